// PapiCounter where PAPI's header is known.
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>

#include <algorithm>
#include <type_traits>

#include "libprofile/shared/counter.hpp"

namespace halcyon {
namespace {

struct Papi {
  decltype(&PAPI_library_init) library_init = nullptr;
  decltype(&PAPI_is_initialized) is_initialized = nullptr;
  decltype(&PAPI_thread_init) thread_init = nullptr;
  decltype(&PAPI_unregister_thread) unregister_thread = nullptr;
  decltype(&PAPI_create_eventset) create_eventset = nullptr;
  decltype(&PAPI_add_named_event) add_named_event = nullptr;
  decltype(&PAPI_start) start = nullptr;
  decltype(&PAPI_stop) stop = nullptr;
  decltype(&PAPI_read) read = nullptr;
  decltype(&PAPI_cleanup_eventset) cleanup_eventset = nullptr;
  decltype(&PAPI_destroy_eventset) destroy_eventset = nullptr;
  decltype(&PAPI_strerror) strerror = nullptr;
  pthread_key_t thread_end{};  // its destructor ends the counting of a thread

  bool load(std::string& error) {
    const std::string name = "libpapi.so." + std::to_string(PAPI_VERSION_MAJOR(PAPI_VERSION)) + "." +
                             std::to_string(PAPI_VERSION_MINOR(PAPI_VERSION));
    // A thread can run one event set per component: ours would keep the program's own from starting.
    if (void* of_program = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD); of_program != nullptr) {
      dlclose(of_program);
      error = "the program uses PAPI itself, which counts for one user at a time";
      return false;
    }
    // NODELETE: threads may count until the very end, so it cannot be closed at any time.
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      error = name + " cannot be opened";
      return false;
    }
    const auto find = [library](auto& pointer, const char* symbol) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, symbol));
      return pointer != nullptr;
    };
    if (find(library_init, "PAPI_library_init") && find(is_initialized, "PAPI_is_initialized") &&
        find(thread_init, "PAPI_thread_init") && find(unregister_thread, "PAPI_unregister_thread") &&
        find(cleanup_eventset, "PAPI_cleanup_eventset") && find(destroy_eventset, "PAPI_destroy_eventset") &&
        find(create_eventset, "PAPI_create_eventset") && find(add_named_event, "PAPI_add_named_event") &&
        find(start, "PAPI_start") && find(stop, "PAPI_stop") && find(read, "PAPI_read") &&
        find(strerror, "PAPI_strerror")) {
      return true;
    }
    error = name + " lacks a function that is needed";
    return false;
  }
};

Papi papi;

// Starts to count in the calling thread. Returns PAPI's status.
int start(const std::string& event, int& event_set) {
  event_set = PAPI_NULL;
  int status = papi.create_eventset(&event_set);
  if (status == PAPI_OK) status = papi.add_named_event(event_set, event.c_str());
  if (status == PAPI_OK) status = papi.start(event_set);
  return status;
}

}  // namespace

bool PapiCounter::choose(const std::string& event, std::string& error) {
  if (papi.read == nullptr && !papi.load(error)) return false;
  if (papi.is_initialized() == PAPI_NOT_INITED) {
    if (papi.library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || papi.thread_init(pthread_self) != PAPI_OK ||
        pthread_key_create(&papi.thread_end, [](void* events) { end(*static_cast<EventsOfThread*>(events)); }) != 0) {
      error = "PAPI does not start";
      return false;
    }
  }
  EventsOfThread events;
  if (const int status = start(event, events.event_set); status != PAPI_OK) {
    error = papi.strerror(status);
    return false;
  }
  events.state = EventsOfThread::State::counting;
  of_reading_ = least_of_reading(events);
  end(events);
  event_ = event;
  return true;
}

void PapiCounter::begin(EventsOfThread& events) const {
  const bool counts = start(event_, events.event_set) == PAPI_OK && pthread_setspecific(papi.thread_end, &events) == 0;
  events.state = counts ? EventsOfThread::State::counting : EventsOfThread::State::failed;
}

std::uint64_t PapiCounter::read(const EventsOfThread& events) const {
  long long value = 0;
  if (events.state == EventsOfThread::State::counting) papi.read(events.event_set, &value);
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

// The first readings look functions up, and any may be interrupted.
std::uint64_t PapiCounter::least_of_reading(const EventsOfThread& events) const {
  constexpr int readings = 32;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t before = read(events);
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t now = read(events);
    least = std::min(least, now - before);
    before = now;
  }
  return least;
}

void PapiCounter::end(EventsOfThread& events) {
  if (events.state != EventsOfThread::State::counting) return;
  events.state = EventsOfThread::State::failed;
  long long value = 0;
  papi.stop(events.event_set, &value);
  papi.cleanup_eventset(events.event_set);
  papi.destroy_eventset(&events.event_set);
  papi.unregister_thread();
}

}  // namespace halcyon
