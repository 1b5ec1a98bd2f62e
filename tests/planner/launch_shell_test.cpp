#include "planner/launch/shell.hpp"

#include "planner/launch/quantities.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::launch;
using Strings = std::vector<std::string>;

namespace {

std::vector<ShellCommand> shell(std::string_view text) {
    Diagnostics diagnostics;
    return read_shell(text, "t.sh", {}, diagnostics);
}

Strings words(std::string_view text) {
    const auto commands = shell(text);
    return commands.empty() ? Strings{} : commands.back().words;
}

}  // namespace

TEST_CASE("Words are split as a shell splits them", "[launch][shell]") {
    REQUIRE(words("a  b\tc") == Strings{"a", "b", "c"});
    REQUIRE(words("a 'b  c' \"d e\"f g\\ h") == Strings{"a", "b  c", "d ef", "g h"});
    REQUIRE(words("a '' \"\"") == Strings{"a", "", ""});
    REQUIRE(words("a \"b\\\"c\\$d\\e\"") == Strings{"a", "b\"c$d\\e"});
    REQUIRE(words("a b#c # d") == Strings{"a", "b#c"});
    REQUIRE(words("a '{\"x\": 1}'") == Strings{"a", "{\"x\": 1}"});
    REQUIRE(words("$ python3 x") == Strings{"python3", "x"});
}

TEST_CASE("Lines are continued by a backslash, by flags, and across comments", "[launch][shell]") {
    REQUIRE(words("a \\\n  --b 1 \\\n  --c") == Strings{"a", "--b", "1", "--c"});
    REQUIRE(words("a --b\\\nc") == Strings{"a", "--bc"});
    REQUIRE(words("a \\\r\n  --b\r\n") == Strings{"a", "--b"});
    Diagnostics diagnostics;
    const auto commands = read_shell("a --b 1 \\   \n  # why\n  --c 2 \\ # note\n  --d\nnext\n", "t.sh", {}, diagnostics);
    REQUIRE(commands.size() == 2);
    REQUIRE(commands[0].words == Strings{"a", "--b", "1", "--c", "2", "--d"});
    REQUIRE(diagnostics.items().size() == 1);
    REQUIRE(diagnostics.items()[0].code == "launch.broken-continuation");
    REQUIRE(diagnostics.items()[0].severity == Severity::warning);
}

TEST_CASE("Variables, defaults and arrays are expanded from the same text", "[launch][shell]") {
    REQUIRE(words("M=org/x\nTP=8; serve $M --tp ${TP}") == Strings{"serve", "org/x", "--tp", "8"});
    REQUIRE(words("serve ${M:-org/y} ${N-3} ${Q:-'a b'}") == Strings{"serve", "org/y", "3", "a", "b"});
    REQUIRE(words("M=; serve ${M:-y} \"${M-z}\"") == Strings{"serve", "y", ""});
    REQUIRE(words("T=4; serve ${U:-${T}}") == Strings{"serve", "4"});
    REQUIRE(words("ARGS=\"--tp 8 --x\"; serve $ARGS \"$ARGS\"") == Strings{"serve", "--tp", "8", "--x", "--tp 8 --x"});
    REQUIRE(words("A=(--tp 8 # eight\n --m 'a b')\nA+=(--y)\nserve \"${A[@]}\" \"$@\"") == Strings{"serve", "--tp", "8", "--m", "a b", "--y"});
    REQUIRE(words("export M=x\nserve \"$M\"") == Strings{"serve", "x"});
    REQUIRE(words("X=1; X+=2; serve $X") == Strings{"serve", "12"});
    REQUIRE(words("serve '$M'") == Strings{"serve", "$M"});
}

TEST_CASE("Nothing is run, and what has no value is told", "[launch][shell]") {
    const auto commands = shell("serve $M --port $(pick port) `date` ${X%%.*}");
    REQUIRE(commands.size() == 1);
    REQUIRE(commands[0].words == Strings{"serve", "$M", "--port", "$(pick port)", "`date`", "${X%%.*}"});
    REQUIRE(commands[0].unresolved == Strings{"$M", "$(pick port)", "`date`", "${X%%.*}"});
}

TEST_CASE("Commands end at operators; redirections and here-documents fall away", "[launch][shell]") {
    const auto commands = shell("set -e\ncat <<EOF > f\n--not a flag\nEOF\nif [ -n x ]; then serve --a 2>&1 | tee log & fi\nlast > out.log");
    REQUIRE(commands.size() == 6);
    REQUIRE(commands[1].words == Strings{"cat"});
    REQUIRE(commands[3].words == Strings{"serve", "--a"});
    REQUIRE(commands[3].line == 5);
    REQUIRE(commands[5].words == Strings{"last"});
}

TEST_CASE("The environment of a command is what was exported and what stands before it", "[launch][shell]") {
    const auto commands = shell("export A=1\nB=2\nC=3 serve");
    REQUIRE(commands.size() == 1);
    REQUIRE(commands[0].environment == std::map<std::string, std::string>{{"A", "1"}, {"C", "3"}});
}

TEST_CASE("A quote that is not closed is an error with its place", "[launch][shell]") {
    Diagnostics diagnostics;
    (void)read_shell("serve\n  'abc", "t.sh", {}, diagnostics);
    REQUIRE(diagnostics.error_count() == 1);
    REQUIRE(diagnostics.items()[0].line == 2);
    REQUIRE(diagnostics.items()[0].column == 3);
}

TEST_CASE("Hostile shell text ends", "[launch][shell]") {
    (void)shell(std::string(100'000, '$'));
    (void)shell(std::string(100'000, '('));
    std::string nested;
    for (int i = 0; i < 2000; ++i) nested += "${a:-";
    (void)shell(nested + std::string(2000, '}'));
    (void)shell("a=(\n" + std::string(1000, '('));
    (void)shell("${");
    (void)shell("\\");
}

TEST_CASE("Quoting gives back the same words", "[launch][shell]") {
    const Strings hard = {"plain", "a b", "it's", "", "$x", "{\"a\": 1}", "#", "*"};
    std::string line = "cmd";
    for (const std::string& word : hard) line += " " + shell_quoted(word);
    Strings expected = {"cmd"};
    expected.insert(expected.end(), hard.begin(), hard.end());
    REQUIRE(words(line) == expected);
}

TEST_CASE("Each manifest has its own dialect of sizes", "[launch][units]") {
    REQUIRE(kubernetes_bytes("64G") == Bytes{64'000'000'000});
    REQUIRE(kubernetes_bytes("64Gi") == Bytes{68'719'476'736});
    REQUIRE(kubernetes_bytes("1e9") == Bytes{1'000'000'000});
    REQUIRE(kubernetes_bytes("1500m") == Bytes{1});
    REQUIRE(kubernetes_bytes("1.5Gi") == Bytes{1'610'612'736});
    REQUIRE(kubernetes_bytes("128974848") == Bytes{128'974'848});
    REQUIRE_FALSE(kubernetes_bytes("64GB"));
    REQUIRE_FALSE(kubernetes_bytes("64g"));
    REQUIRE_FALSE(kubernetes_bytes(""));
    REQUIRE_FALSE(kubernetes_bytes("-1Gi"));
    REQUIRE(docker_bytes("64g") == Bytes{68'719'476'736});
    REQUIRE(docker_bytes("64GB") == Bytes{68'719'476'736});
    REQUIRE(docker_bytes("32gib") == Bytes{34'359'738'368});
    REQUIRE(docker_bytes("512m") == Bytes{536'870'912});
    REQUIRE(docker_bytes("100") == Bytes{100});
    REQUIRE_FALSE(docker_bytes("64x"));
}
