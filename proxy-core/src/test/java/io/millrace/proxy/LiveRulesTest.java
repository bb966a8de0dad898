package io.millrace.proxy;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the rules that change requests and responses. */
class LiveRulesTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private LiveProxy rule(String keys) {
        return live.file("rules: [{" + keys + "}]");
    }

    @LiveKey("rules")
    void aRuleIsAdded() throws Exception {
        live.file("rules: [<{remove_response_header: [X-Z]}|{set_response_header: {X-A: b}}>]")
                .turns("none", "b", () -> found("x-a"));
    }

    private String found(String name) throws Exception {
        String value = live.field(name);
        return value == null ? "none" : value;
    }

    @LiveKey("remap[].rules")
    void rulesOfARemapRule() throws Exception {
        live.file("remap: [{map: /, to: '@origin', rules: [{set_response_header: {X-A: <b|c>}}]}]")
                .turns("b", "c", () -> found("x-a"));
    }

    @LiveKey("rules[].when")
    void condition() throws Exception {
        rule("when: 'method == \"<POST|GET>\"', set_response_header: {X-A: b}").turns("none", "b", () -> found("x-a"));
    }

    @LiveKey("rules[].set_response_header")
    void fieldsThatAreSet() throws Exception {
        rule("set_response_header: {X-A: <b|c>}").turns("b", "c", () -> found("x-a"));
    }

    @LiveKey("rules[].add_response_header")
    void fieldsThatAreAdded() throws Exception {
        rule("add_response_header: {X-A: <b|c>}").turns("b", "c", () -> found("x-a"));
    }

    @LiveKey("rules[].remove_response_header")
    void fieldsThatAreRemoved() throws Exception {
        live.answers("X-A: b\r\n");
        rule("remove_response_header: [<X-B|X-A>]").turns("b", "none", () -> found("x-a"));
    }

    @LiveKey("rules[].set_stored_header")
    void fieldsThatAreSetBeforeStoring() throws Exception {
        rule("set_stored_header: {Cache-Control: max-age=<100|200>}").turns(100, 200, () -> live.ttl(live.fresh()));
    }

    @LiveKey("rules[].add_stored_header")
    void fieldsThatAreAddedBeforeStoring() throws Exception {
        rule("add_stored_header: {X-A: <b|c>}").turns("b", "c", () -> found("x-a"));
    }

    @LiveKey("rules[].remove_stored_header")
    void fieldsThatAreRemovedBeforeStoring() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nX-A: b\r\n");
        rule("remove_stored_header: [<X-B|X-A>]").turns("b", "none", () -> found("x-a"));
    }

    @LiveKey("rules[].rewrite.path")
    void rewrittenPath() throws Exception {
        live.echoes();
        rule("rewrite: {path: /<a|b>}").turns("GET /a HTTP/1.1", "GET /b HTTP/1.1", () -> live.text(live.fresh())
                .lines()
                .findFirst()
                .orElse(""));
    }

    @LiveKey("rules[].rewrite.query")
    void rewrittenQuery() throws Exception {
        live.echoes();
        rule("rewrite: {path: /a, query: 'q=<1|2>'}")
                .turns(
                        "GET /a?q=1 HTTP/1.1",
                        "GET /a?q=2 HTTP/1.1",
                        () -> live.text(live.fresh()).lines().findFirst().orElse(""));
    }

    @LiveKey("rules[].set_request_header")
    void fieldsThatAreSetForTheOrigin() throws Exception {
        live.echoes();
        rule("set_request_header: {X-A: <b|c>}").turns("b", "c", () -> live.sent("x-a"));
    }

    @LiveKey("rules[].add_request_header")
    void fieldsThatAreAddedForTheOrigin() throws Exception {
        live.echoes();
        rule("add_request_header: {X-A: <b|c>}").turns("b", "c", () -> live.sent("x-a"));
    }

    @LiveKey("rules[].remove_request_header")
    void fieldsThatAreRemovedForTheOrigin() throws Exception {
        live.echoes();
        rule("remove_request_header: [<X-B|X-A>]")
                .turns(true, false, () -> live.text(live.fresh(), "X-A: b\r\n").contains("X-A: b"));
    }

    @LiveKey("rules[].redirect.to")
    void targetOfARedirection() throws Exception {
        rule("redirect: {to: /<a|b>}").turns("/a", "/b", () -> found("location"));
    }

    @LiveKey("rules[].redirect.status")
    void statusOfARedirection() throws Exception {
        rule("redirect: {to: /, status: <301|308>}").turns(301, 308, () -> live.status("/x"));
    }

    @LiveKey("rules[].answer.status")
    void statusOfAnAnswer() throws Exception {
        rule("answer: {status: <403|451>}").turns(403, 451, () -> live.status("/x"));
    }

    @LiveKey("rules[].answer.body")
    void contentOfAnAnswer() throws Exception {
        rule("answer: {status: 200, body: <a|b>}").turns("a", "b", () -> live.text("/x"));
    }

    @LiveKey("rules[].answer.content_type")
    void typeOfAnAnswer() throws Exception {
        rule("answer: {status: 200, body: '{}', content_type: text/<a|b>}")
                .turns("text/a", "text/b", () -> found("content-type"));
    }

    @LiveKey("rules[].bypass")
    void bypass() throws Exception {
        rule("set_response_header: {X-A: b}, bypass: <false|true>")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("rules[].ttl")
    void lifetime() throws Exception {
        rule("ttl: <100s|200s>").turns(100, 200, () -> live.ttl(live.fresh()));
    }
}
