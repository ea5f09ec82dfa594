#include "core/error.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "core/dispatch.h"

namespace oprt {
namespace {

template <class Body>
oprt_status_t status_of(Body&& body) {
  return guard("op", body);
}

TEST(Guard, TurnsEachKindOfExceptionIntoAStatus) {
  EXPECT_EQ(status_of([] {}), OPRT_OK);
  EXPECT_EQ(status_of([] { throw Error(OPRT_ERR_DEVICE_ERROR, "x", "bad %d", 7); }), OPRT_ERR_DEVICE_ERROR);
  EXPECT_STREQ(oprt_last_error(), "op: bad 7");
  EXPECT_STREQ(oprt_last_error_argument(), "x");
  EXPECT_EQ(status_of([] { throw std::bad_alloc(); }), OPRT_ERR_OUT_OF_MEMORY);
  EXPECT_STREQ(oprt_last_error(), "op: out of host memory");
  EXPECT_STREQ(oprt_last_error_argument(), "");
  EXPECT_EQ(status_of([] { throw std::runtime_error("surprise"); }), OPRT_ERR_INTERNAL);
  EXPECT_STREQ(oprt_last_error(), "op: surprise");
  EXPECT_EQ(status_of([] { throw 5; }), OPRT_ERR_INTERNAL);
}

TEST(LastError, StaysWhenACallSucceeds) {
  status_of([] { throw Error(OPRT_ERR_UNSUPPORTED, "a", "first"); });
  EXPECT_EQ(status_of([] {}), OPRT_OK);
  EXPECT_STREQ(oprt_last_error(), "op: first");
}

TEST(LastError, BelongsToItsThread) {
  status_of([] { throw Error(OPRT_ERR_UNSUPPORTED, "a", "mine"); });
  std::thread([] {
    EXPECT_STREQ(oprt_last_error(), "");
    status_of([] { throw Error(OPRT_ERR_UNSUPPORTED, "b", "theirs"); });
    EXPECT_STREQ(oprt_last_error(), "op: theirs");
  }).join();
  EXPECT_STREQ(oprt_last_error(), "op: mine");
}

TEST(LastError, CutsALongTextInsteadOfOverrunning) {
  const std::string text(5000, 'x');
  status_of([&] { throw Error(OPRT_ERR_UNSUPPORTED, text.c_str(), "%s", text.c_str()); });
  EXPECT_EQ(std::string(oprt_last_error()).substr(0, 7), "op: xxx");
  EXPECT_LT(std::string(oprt_last_error()).size(), 600u);
  EXPECT_LT(std::string(oprt_last_error_argument()).size(), 30u);
}

TEST(Check, EvaluatesItsConditionAndArgumentsOnce) {
  int conditions = 0;
  int arguments = 0;
  OPRT_CHECK(++conditions > 0, "x", OPRT_ERR_INVALID_ARGUMENT, "%d", ++arguments);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(arguments, 0) << "a text that is not needed is not made";
  EXPECT_EQ(status_of([&] { OPRT_CHECK(++conditions < 0, "x", OPRT_ERR_INVALID_ARGUMENT, "%d", ++arguments); }),
            OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(conditions, 2);
  EXPECT_EQ(arguments, 1);
}

TEST(Check, IsOneStatement) {
  bool reached = false;
  if (reached)
    OPRT_CHECK(false, "x", OPRT_ERR_INVALID_ARGUMENT, "not reached");
  else
    reached = true;
  EXPECT_TRUE(reached);
}

TEST(InternalCheck, NamesFileLineAndCondition) {
  EXPECT_EQ(status_of([] { OPRT_ICHECK(1 + 1 == 3); }), OPRT_ERR_INTERNAL);
  EXPECT_NE(std::string(oprt_last_error()).find("error_test.cc:"), std::string::npos);
  EXPECT_NE(std::string(oprt_last_error()).find("1 + 1 == 3 does not hold"), std::string::npos);
}

std::unique_ptr<const Plan> declining(const char** reason, int* evaluations) {
  OPRT_REQUIRE(++*evaluations > 1, "a second try");
  return nullptr;
}

TEST(Require, DeclinesWithItsReason) {
  const char* reason = "";
  int evaluations = 0;
  EXPECT_EQ(declining(&reason, &evaluations), nullptr);
  EXPECT_STREQ(reason, "a second try");
  EXPECT_EQ(evaluations, 1);
}

TEST(StatusName, KnowsEveryStatusAndNoOther) {
  EXPECT_STREQ(oprt_status_name(OPRT_OK), "OPRT_OK");
  EXPECT_STREQ(oprt_status_name(OPRT_ERR_INTERNAL), "OPRT_ERR_INTERNAL");
  EXPECT_STREQ(oprt_status_name(8), "OPRT_ERR_UNKNOWN");
  EXPECT_STREQ(oprt_status_name(-1), "OPRT_ERR_UNKNOWN");
}

}  // namespace
}  // namespace oprt
