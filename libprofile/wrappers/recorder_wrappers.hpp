// All that the generated wrappers of libhalcyon.so use.
#pragma once

#include "libprofile/wrappers/completions.hpp"
#include "libprofile/wrappers/fortran_site.hpp"
#include "libprofile/wrappers/life_of_run.hpp"
#include "libprofile/wrappers/recorded_call.hpp"
#include "libprofile/wrappers/recorded_device_call.hpp"
#include "libprofile/wrappers/recorded_file_call.hpp"
#include "libprofile/wrappers/spawning.hpp"
#include "libprofile/wrappers/volumes.hpp"
