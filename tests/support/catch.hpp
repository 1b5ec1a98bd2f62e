#pragma once

// Catch2 is 2.13 in Debian 12 and 3.x elsewhere; tests include this file and use what both have.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
