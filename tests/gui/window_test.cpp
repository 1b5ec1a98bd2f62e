#include "tests/gui/rig.hpp"

namespace kvplan::testing {

namespace {
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("The window starts on the founding deployment, which is planned", "[gui]") {
    Rig rig;
    REQUIRE(rig.window.document().planned() != nullptr);
    CHECK(rig.window.document().is_current());
    const std::string text = rig.text();
    CHECK(contains(text, "RTX PRO 6000 Blackwell"));
    CHECK(contains(text, "KV pool"));
    // 39 GB for each of 8 ranks: 39 x 8 = 312.
    CHECK(contains(text, "312.00 GB on the node"));
}

TEST_CASE("Dragging the host cache beyond the safe maximum turns the total red and adds the finding; undo takes both back", "[gui][undo]") {
    Rig rig;
    CHECK(rig.has("total/safe"));
    CHECK_FALSE(rig.finds("hicache_exceeds_host_ram"));
    rig.drag("slider/hicache_size", 0.55f, 0.98f);
    CHECK(rig.has("total/unsafe"));
    CHECK_FALSE(rig.has("total/safe"));
    CHECK(rig.finds("hicache_exceeds_host_ram"));
    CHECK(contains(rig.text(), "not safe"));
    // The whole drag is one step.
    rig.backend.shortcut(rig.window, 'Z');
    rig.backend.frames(rig.window, 2);
    CHECK(rig.window.document().value("hicache_size") == "39");
    CHECK(rig.has("total/safe"));
    CHECK_FALSE(rig.finds("hicache_exceeds_host_ram"));
    rig.backend.shortcut(rig.window, 'Y');
    rig.backend.frames(rig.window, 2);
    CHECK(rig.has("total/unsafe"));
}

TEST_CASE("Applying a finding's remedy removes the finding", "[gui][findings]") {
    Rig rig;
    rig.type_into("hicache_size", "300");
    REQUIRE(rig.finds("hicache_exceeds_host_ram"));
    rig.click("tab/findings");
    REQUIRE(rig.has("apply/hicache_exceeds_host_ram"));
    rig.click("apply/hicache_exceeds_host_ram", 0.1f);
    CHECK_FALSE(rig.finds("hicache_exceeds_host_ram"));
    CHECK(rig.window.document().value("hicache_size") == "39");
    rig.backend.shortcut(rig.window, 'Z');
    CHECK(rig.finds("hicache_exceeds_host_ram"));
}

TEST_CASE("Invalid input keeps the last valid plan and says at the field what is wrong", "[gui][fields]") {
    Rig rig;
    const Bytes before = rig.plan().host.required_bytes;
    rig.type_into("host_available", "400G");
    CHECK_FALSE(rig.window.document().is_current());
    CHECK(rig.window.document().faults().count("host_available") == 1);
    CHECK(contains(rig.text(), "400GiB"));  // one of the two readings that are offered
    CHECK(rig.plan().host.required_bytes == before);
    rig.type_into("host_available", "300GiB");
    CHECK(rig.window.document().is_current());
    // 300 x 2^30
    CHECK(rig.plan().host.available_bytes == Bytes{322122547200});
}

TEST_CASE("What differs from the default is marked, and the mark takes it back", "[gui][fields]") {
    Rig rig;
    CHECK_FALSE(rig.has("reset/context_length"));
    rig.type_into("context_length", "65536");
    REQUIRE(rig.has("reset/context_length"));
    CHECK(rig.plan().capacity.longest_request_tokens.count() <= 65536);
    rig.click("reset/context_length");
    CHECK(rig.window.document().value("context_length").empty());
    CHECK_FALSE(rig.has("reset/context_length"));
}

TEST_CASE("A model is found by typing parts of its name", "[gui][fields]") {
    Rig rig;
    rig.click("field/model", 0.2f);
    rig.backend.type("deepseek v3.1");
    rig.backend.frames(rig.window, 3);
    std::string choice;
    for (const auto& mark : rig.window.marks())
        if (mark.first.rfind("choice/DeepSeek", 0) == 0) choice = mark.first;
    REQUIRE_FALSE(choice.empty());
    rig.click(choice, 0.1f);
    CHECK(rig.window.document().value("model") == choice.substr(7));
    REQUIRE(rig.window.document().is_current());
    CHECK(contains(rig.window.document().planned()->scenario.model->name, "DeepSeek"));
}

TEST_CASE("The engines' fields are kept apart: those of the other engine are neither planned with nor lost", "[gui][fields]") {
    Rig rig;
    rig.window.document().set("engine", "vllm");
    rig.backend.frames(rig.window, 2);
    CHECK(rig.window.document().is_current());
    CHECK(rig.window.document().planned()->scenario.engine.kind == EngineKind::vllm);
    CHECK(rig.has("field/gpu_memory_utilization"));
    CHECK_FALSE(rig.has("field/mem_fraction_static"));
    rig.window.document().set("engine", "");
    CHECK(rig.window.document().planned()->scenario.engine.mem_fraction_static->value == 0.85);
}

TEST_CASE("A pasted launch command is planned, and the Launch tab says what was changed since", "[gui][launch]") {
    Rig rig;
    ImGui::SetClipboardText("python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --mem-fraction-static 0.93 --enable-hierarchical-cache --hicache-size 300");
    rig.backend.shortcut(rig.window, 'V');
    rig.backend.frames(rig.window, 2);
    REQUIRE(rig.window.document().is_current());
    CHECK(rig.window.document().value("mem_fraction_static") == "0.93");
    CHECK(rig.window.document().value("gpu") == "rtx-pro-6000-blackwell");  // the place stays
    CHECK(rig.finds("hicache_exceeds_host_ram"));
    rig.click("tab/launch");
    CHECK(contains(rig.text(), "No difference."));
    rig.type_into("hicache_size", "39");
    const std::string text = rig.text();
    CHECK(contains(text, "- --hicache-size 300"));
    CHECK(contains(text, "+ --hicache-size 39"));
}

TEST_CASE("Ctrl+Page Down walks through the tabs", "[gui][keys]") {
    Rig rig;
    for (const gui::Tab tab : gui::kTabs) {
        CHECK(rig.window.view().tab == tab);
        ImGui::GetIO().KeyCtrl = true;
        rig.backend.key(rig.window, ImGuiKey_PageDown);
        ImGui::GetIO().KeyCtrl = false;
    }
    CHECK(rig.window.view().tab == gui::Tab::gpu);
}

}  // namespace kvplan::testing
