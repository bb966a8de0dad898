package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests rules of stored fields where a response is stored in parts, validated, or the response to POST. */
class StoredFieldRulesTest {
    private static final int LENGTH = 3_000_000;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(RawOrigin.Script script, String rules) throws IOException {
        start(script, rules, config -> config);
    }

    private void start(RawOrigin.Script script, String rules, UnaryOperator<ProxyConfig.Builder> more)
            throws IOException {
        proxy.start(script, config -> more.apply(config.rules(RulesOnTheWireTest.rules(rules))));
    }

    /** The second range is a fetch of missing blocks, whose fields update the stored ones. */
    @Test
    void aFetchOfBlocksIsChangedLikeAnyOther() throws Exception {
        byte[] content = ProxyExtension.content(LENGTH);
        start(
                request -> {
                    String[] ends = RawClient.field(request.head(), "range")
                            .substring("bytes=".length())
                            .split("-", -1);
                    int first = Integer.parseInt(ends[0]);
                    int last = Math.min(Integer.parseInt(ends[1]), LENGTH - 1);
                    request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (last - first + 1)
                            + "\r\nContent-Range: bytes " + first + "-" + last + "/" + LENGTH
                            + "\r\nETag: \"e\"\r\nCache-Control: max-age=60\r\nX-A: o\r\nX-Secret: s\r\n\r\n");
                    request.send(Arrays.copyOfRange(content, first, last + 1));
                },
                "[{when: 'status == 200', remove_stored_header: [X-Secret], set_stored_header: {X-A: rule}}]",
                config -> config.storage(directory.resolve("volume"), 256L << 20));
        int[] starts = {0, 2_500_000, 10, 2_500_010};
        for (int start : starts) {
            RawClient.Response part = proxy.getAndSettle("/a", "Range: bytes=" + start + "-" + (start + 9) + "\r\n");
            assertEquals(206, part.status(), part.head());
            assertNull(part.field("x-secret"), part.head());
            assertEquals("rule", part.field("x-a"), part.head());
        }
        assertEquals(2, proxy.origin().requests());
    }

    /** A 304 without a field leaves the stored one, which conditions therefore read. */
    @Test
    void aConditionReadsTheStoredFieldThatA304Lacks() throws Exception {
        start(
                request -> {
                    String fields = "Cache-Control: max-age=60\r\nETag: \"e\"\r\nX-A: o\r\n";
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
                    } else {
                        request.ok(fields + "X-Kind: page\r\n", RawInput.latin1("content"));
                    }
                },
                "[{when: 'response_header[\"X-Kind\"] == \"page\"', set_stored_header: {X-A: rule}}]");
        assertEquals("rule", proxy.getAndSettle("/a").field("x-a"));
        proxy.advanceSeconds(61);
        assertEquals("rule", proxy.getAndSettle("/a").field("x-a"));
        assertEquals(2, proxy.origin().requests());
        RawClient.Response hit = proxy.getAndSettle("/a");
        assertEquals("rule", hit.field("x-a"), hit.head());
        assertEquals(2, proxy.origin().requests());
    }

    private static void posted(RawOrigin.Exchange request) throws IOException {
        request.ok(
                "Cache-Control: max-age=60\r\nContent-Location: /a\r\n", RawInput.latin1("answer " + request.number()));
    }

    private RawClient.Response post() throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response response = client.send(
                            "POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .response();
            proxy.settle();
            return response;
        }
    }

    @Test
    void aPostThatBypassesTheCacheIsNotStored() throws Exception {
        start(StoredFieldRulesTest::posted, "[{when: 'method == \"POST\"', bypass: true}]");
        assertEquals("answer 1", post().text());
        assertEquals("answer 2", proxy.getAndSettle("/a").text());
        assertEquals("answer 2", proxy.getAndSettle("/a").text());
    }

    @Test
    void aPostIsStoredWithTheFieldsOfRulesForAllMethods() throws Exception {
        start(StoredFieldRulesTest::posted, "[{when: 'path == \"/a\"', set_stored_header: {X-A: rule}}]");
        assertEquals("answer 1", post().text());
        RawClient.Response hit = proxy.getAndSettle("/a");
        assertEquals("answer 1", hit.text());
        assertEquals("rule", hit.field("x-a"), hit.head());
    }

    @Test
    void aPostIsNotStoredWhereARuleIsForGetAlone() throws Exception {
        start(
                StoredFieldRulesTest::posted,
                "[{when: 'method in (\"GET\", \"HEAD\")', set_stored_header: {X-A: rule}}]");
        assertNull(post().field("x-a"));
        RawClient.Response later = proxy.getAndSettle("/a");
        assertEquals("answer 2", later.text());
        assertEquals("rule", later.field("x-a"), later.head());
    }

    /** The condition of a rule decides whether a GET would have been changed like the POST. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | {set_request_header: {X-B: b}}",
                "1 | {add_request_header: {X-B: b}}",
                "1 | {remove_request_header: [User-Agent]}",
                "1 | {when: 'path == \"/a\"', set_request_header: {X-B: b}}",
                "1 | {when: 'method in (\"GET\", \"HEAD\", \"POST\")', set_request_header: {X-B: b}}",
                "1 | {when: 'method == \"PUT\"', set_request_header: {X-B: b}, bypass: true}",
                "1 | {set_response_header: {X-B: b}}",
                "2 | {when: 'method in (\"GET\", \"HEAD\")', set_request_header: {X-B: b}}",
                "2 | {when: 'method == \"POST\"', set_request_header: {X-B: b}}",
                "2 | {when: 'method in (\"GET\", \"HEAD\")', rewrite: {path: /b}}",
                "2 | {rewrite: {path: /b}}",
            })
    void aPostIsStoredUnlessARuleCanChangeGetOtherwise(int requests, String rule) throws Exception {
        start(StoredFieldRulesTest::posted, "[" + rule + "]");
        assertEquals("answer 1", post().text());
        assertEquals("answer " + requests, proxy.getAndSettle("/a").text());
    }
}
