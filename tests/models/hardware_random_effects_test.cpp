#include "models/hardware/random_effects.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using namespace kvplan::hardware;

TEST_CASE("Random effects: a case worked by hand", "[hardware][statistics]") {
    // a: 1, 3 (mean 2, squares 2); b: 6. n = 3, groups = 2.
    // sw2 = 2 / (3 - 2) = 2. Means 2 and 6: variance 8. sb2 = 8 - 2 * (1/2 + 1/1) / 2 = 6.5.
    // Weights 1 / (6.5 + 1) = 0.13333 and 1 / (6.5 + 2) = 0.11765, sum 0.25098: m = 0.97255 / 0.25098 = 3.875.
    const std::vector<Reading> readings{{"a", 1.0}, {"a", 3.0}, {"b", 6.0}};
    // a: w = 6.5 / 7.5 = 0.86667, expected 3.875 - 0.86667 * 1.875 = 2.25.
    // variance 2 + 6.5 * 0.13333 + 0.13333^2 / 0.25098 = 2.9375; t95(2) = 4.303: 4.303 * 1.71391 = 7.3750.
    const Prediction a = predict(readings, "a", 0.1, 0.0);
    CHECK(a.expected == Approx(2.25));
    CHECK(a.half_width == Approx(7.3750).epsilon(1e-4));
    CHECK(a.readings == 3);
    CHECK(a.of_group == 2);
    // A new group: variance 2 + 6.5 + 1 / 0.25098 = 12.4844; t95(1) = 12.706: 44.894.
    const Prediction fresh = predict(readings, "c", 0.1, 0.0);
    CHECK(fresh.expected == Approx(3.875));
    CHECK(fresh.half_width == Approx(44.894).epsilon(1e-4));
    CHECK(fresh.of_group == 0);
}

TEST_CASE("Random effects: groups that do not differ lend a new one all their readings", "[hardware][statistics]") {
    // Means 2 and 2: sb2 = 0. Weights 1 / (2 / 2) and 1 / (2 / 1), sum 1.5; variance 2 + 1 / 1.5 = 2.6667, and n - 1 =
    // 2 degrees of freedom: 4.303 * 1.63299 = 7.0268.
    const std::vector<Reading> readings{{"a", 1.0}, {"a", 3.0}, {"b", 2.0}};
    const Prediction fresh = predict(readings, "c", 0.1, 0.0);
    CHECK(fresh.expected == Approx(2.0));
    CHECK(fresh.half_width == Approx(7.0268).epsilon(1e-4));
}

TEST_CASE("Random effects: readings that agree keep the floor of the spread", "[hardware][statistics]") {
    // One group of four equal readings: sw2 = 0.1^2, sb2 = 0, var(m) = 0.01 / 4; t95(3) sqrt(0.0125) = 3.182 * 0.1118.
    const std::vector<Reading> readings{{"a", 5.0}, {"a", 5.0}, {"a", 5.0}, {"a", 5.0}};
    const Prediction next = predict(readings, "a", 0.1, 0.0);
    CHECK(next.expected == Approx(5.0));
    CHECK(next.half_width == Approx(0.35576).epsilon(1e-4));
}

TEST_CASE("Random effects: more doubt never makes the interval narrower", "[hardware][statistics]") {
    const std::vector<Reading> readings{{"a", 1.0}, {"a", 1.2}, {"b", 2.0}, {"c", 2.5}, {"c", 2.4}};
    double before = 0.0;
    for (const double extra : {0.0, 0.01, 0.1, 1.0, 10.0}) {
        const double width = predict(readings, "a", 0.05, extra).half_width;
        CHECK(width > before);
        before = width;
    }
    CHECK(predict(readings, "new", 0.05, 0.0).half_width > predict(readings, "a", 0.05, 0.0).half_width);
    CHECK_THROWS(predict({}, "a", 0.1, 0.0));
}

TEST_CASE("Student's t falls from 12.706 to 2.042", "[hardware][statistics]") {
    CHECK(student_t95(1) == Approx(12.706));
    CHECK(student_t95(0) == Approx(12.706));
    CHECK(student_t95(10) == Approx(2.228));
    CHECK(student_t95(500) == Approx(2.042));
    for (int df = 1; df < 40; ++df) CHECK(student_t95(df + 1) <= student_t95(df));
}
