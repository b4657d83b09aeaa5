// halcyon-ask: asks the spool of a site, for a rank that must not wait for a file system that hangs.
//
// usage: halcyon-ask SPOOL PROGRAM FILE   Prints "yes", or "no: " and why; nothing behind it if the site does not want
// it.
#include <cstdio>

#include "libprofile/shared/admission.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::puts("no: usage: halcyon-ask SPOOL PROGRAM FILE");
    return 2;
  }
  const halcyon::Admission admission = halcyon::ask_for_admission(argv[1], argv[2], argv[3]);
  std::puts(admission.is_admitted ? "yes" : ("no: " + admission.why_not).c_str());
  return 0;
}
