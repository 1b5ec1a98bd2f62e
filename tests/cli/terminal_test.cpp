// What only a terminal shows: colour, NO_COLOR and the width. The real binary runs on a pseudo terminal.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace {

std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns, bool no_color) {
    winsize size{};
    size.ws_row = 25;
    size.ws_col = columns;
    std::vector<std::string> words{KVPLAN_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
        if (no_color) setenv("NO_COLOR", "1", 1);
        else unsetenv("NO_COLOR");
        execv(argv[0], argv.data());
        _exit(127);
    }
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(terminal, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    return text;
}

std::string without_escapes(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            while (i < text.size() && text[i] != 'm') ++i;
        } else if (text[i] != '\r') {
            plain += text[i];
        }
    }
    return plain;
}

const std::vector<std::string> kPlan = {"plan", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--host-ram", "2TB", "--enable-hierarchical-cache", "--hicache-size", "100"};

}  // namespace

TEST_CASE("Colour comes on a terminal, NO_COLOR takes it away, and the words are the same", "[cli][terminal]") {
    const std::string colored = on_terminal(kPlan, 100, false), plain = on_terminal(kPlan, 100, true);
    CHECK(colored.find("\x1b[") != std::string::npos);
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(without_escapes(colored) == without_escapes(plain));
}

TEST_CASE("Text fits the terminal, apart from commands to be copied", "[cli][terminal]") {
    for (const unsigned short columns : std::vector<unsigned short>{80, 100, 160}) {
        std::istringstream lines(without_escapes(on_terminal(kPlan, columns, true)));
        std::string line;
        while (std::getline(lines, line)) {
            if (line.find("python3 -m sglang") != std::string::npos) continue;
            INFO(line);
            CHECK(line.size() <= columns);
        }
    }
}
