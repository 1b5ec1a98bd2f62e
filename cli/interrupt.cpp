#include "cli/interrupt.hpp"

#include <signal.h>
#include <time.h>

namespace kvplan::cli {

namespace {

// A handler can reach nothing but globals.
volatile sig_atomic_t noted = 0;
volatile time_t noted_at = 0;

// Wrappers (timeout, mpirun, a shell's process group) deliver one request twice: only a later signal ends the program.
void note(int number) {
    constexpr time_t kPatience = 2;
    const time_t now = time(nullptr);
    if (noted != 0 && now - noted_at >= kPatience) {
        ::signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (noted == 0) noted_at = now;
    noted = number;
}

void install(int number, struct sigaction* old) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, nullptr, old);
    // What the parent has switched off (nohup, a shell's background jobs) stays off.
    if (old->sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

}  // namespace

struct Interrupt::Old {
    struct sigaction interrupt {}, terminate {};
};

Interrupt::Interrupt() : old_(std::make_unique<Old>()) {
    noted = 0;
    install(SIGINT, &old_->interrupt);
    install(SIGTERM, &old_->terminate);
}

Interrupt::~Interrupt() {
    sigaction(SIGINT, &old_->interrupt, nullptr);
    sigaction(SIGTERM, &old_->terminate, nullptr);
}

int Interrupt::signal() const { return static_cast<int>(noted); }

}  // namespace kvplan::cli
