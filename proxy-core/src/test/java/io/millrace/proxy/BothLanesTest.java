package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.Metric;
import io.millrace.proxy.observe.MetricFamily;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the same requests with and without the fast lane, on plain and TLS connections: the bytes, the log lines and
 * the counts must be equal.
 */
class BothLanesTest {
    private static final String HOST = "Host: test.example\r\n";
    private static final String GET = "GET /hit HTTP/1.1\r\n" + HOST;
    private static final String BR = "Accept-Encoding: gzip, br\r\n";
    private static final String LAST = "GET /last HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n";
    private static final String BROWSER = HOST
            + "Connection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"130\"\r\nsec-ch-ua-mobile: ?0\r\n"
            + "sec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11)\r\n"
            + "Accept: text/html,*/*;q=0.8\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\n"
            + "Sec-Fetch-Dest: document\r\nReferer: http://test.example/\r\nAccept-Encoding: gzip, deflate, br\r\n"
            + "Accept-Language: de\r\nCookie: a=b; c=d\r\nDNT: 1\r\nPriority: u=0, i\r\nX-A: 1\r\nX-B: 2\r\n";
    private static final String LOG =
            "%<chi> %<cqtq> \"%<cqhm> %<cquup> %<cqpv>\" %<crc>/%<chm> %<pssc>/%<sssc> %<pscl> %<pshl>"
                    + " \"%<{X-Who}cqh>\" %<psct> %<{Via}psh> %<shn>";

    @RegisterExtension
    final ProxyExtension fast = new ProxyExtension();

    @RegisterExtension
    final ProxyExtension channels = new ProxyExtension();

    @TempDir
    Path directory;

    private UnaryOperator<ProxyConfig.Builder> more = config -> config;

    private static Map<String, String> cases() {
        Map<String, String> cases = new LinkedHashMap<>();
        cases.put("hit", GET + "\r\n");
        cases.put("hit of a browser", "GET /hit HTTP/1.1\r\n" + BROWSER + "\r\n");
        cases.put(
                "hit with a query",
                "GET /hit?a=b&c HTTP/1.1\r\n" + HOST + "\r\nGET /hit?a=b&c HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("captured field", GET + "X-Who: me\r\n\r\n");
        cases.put("HEAD", GET.replace("GET", "HEAD") + "\r\n");
        cases.put("old client", "GET /hit HTTP/1.0\r\n" + HOST + "\r\n");
        cases.put("old client that stays", "GET /hit HTTP/1.0\r\n" + HOST + "Connection: keep-alive\r\n\r\n");
        cases.put("close", GET + "Connection: Close\r\n\r\n");
        cases.put("If-None-Match, same", GET + "If-None-Match: \"e\"\r\n\r\n");
        cases.put("If-None-Match, other", GET + "If-None-Match: \"f\"\r\n\r\n");
        cases.put("If-None-Match of HEAD", GET.replace("GET", "HEAD") + "If-None-Match: W/\"e\"\r\n\r\n");
        cases.put("If-Modified-Since", GET + "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n");
        cases.put("If-Modified-Since, before", GET + "If-Modified-Since: Thu, 01 Jan 2015 00:00:00 GMT\r\n\r\n");
        cases.put("If-Match, same", GET + "If-Match: \"e\"\r\n\r\n");
        cases.put("If-Match, other", GET + "If-Match: \"f\"\r\n\r\n");
        cases.put("range", GET + "Range: bytes=1-3\r\n\r\n");
        cases.put("no-cache", GET + "Cache-Control: no-cache\r\n\r\n");
        cases.put("max-age=0", GET + "Cache-Control: max-age=0\r\n\r\n");
        cases.put("only-if-cached, stored", GET + "Cache-Control: only-if-cached\r\n\r\n");
        cases.put("only-if-cached, not stored", GET.replace("/hit", "/no") + "Cache-Control: only-if-cached\r\n\r\n");
        cases.put("authorization", GET + "Authorization: Basic YTpi\r\n\r\n");
        cases.put("empty", GET.replace("/hit", "/empty") + "\r\n");
        cases.put("stored error", GET.replace("/hit", "/gone") + "\r\n");
        cases.put("stored redirection", GET.replace("/hit", "/moved") + "\r\n");
        cases.put("stored redirection to an URL of the origin", GET.replace("/hit", "/moved-there") + "\r\n");
        cases.put(
                "Referer that is refused",
                GET.replace("test.example", "linked.example") + "Referer: http://a/\r\n\r\n");
        cases.put(
                "Referer that is let through",
                GET.replace("test.example", "linked.example") + "Referer: http://b/\r\n\r\n");
        cases.put("204", GET.replace("/hit", "/none") + "\r\n");
        cases.put("long content", GET.replace("/hit", "/long") + "\r\n");
        cases.put("HEAD of long content", "HEAD /long HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("If-None-Match of long content", GET.replace("/hit", "/long") + "If-None-Match: \"e\"\r\n\r\n");
        cases.put("content of the most that is copied", GET.replace("/hit", "/most") + "\r\n");
        cases.put("stale", GET.replace("/hit", "/stale") + "\r\n");
        cases.put("variant", GET.replace("/hit", "/vary") + "Accept-Language: de\r\n\r\n");
        cases.put("other variant", GET.replace("/hit", "/vary") + "Accept-Language: fr\r\n\r\n");
        putCodings(cases);
        cases.put("miss", GET.replace("/hit", "/miss") + "\r\n");
        cases.put("not storable", GET.replace("/hit", "/private") + "\r\n");
        cases.put("HEAD of what is not stored", "HEAD /private HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("POST", "POST /private HTTP/1.1\r\n" + HOST + "Content-Length: 3\r\n\r\nabc");
        cases.put("GET with content", GET + "Content-Length: 3\r\n\r\nabc");
        cases.put("GET with no content, said", GET + "Content-Length: 0\r\n\r\n");
        cases.put("TRACE", "TRACE /hit HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("upgrade", GET + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
        cases.put("expectation", GET + "Expect: 100-continue\r\n\r\n");
        cases.put("absolute form", "GET http://test.example/hit HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("absolute form of https", "GET https://test.example/hit HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("empty lines before", "\r\n\r\n" + GET + "\r\n");
        cases.put("loop", GET + "Via: 1.1 millrace\r\n\r\n");
        cases.put("purge", "PURGE /purged HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put(
                "keys of the first WebSocket draft",
                GET + "Sec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2\r\n\r\n" + GET + "\r\n");
        cases.put("no host", "GET /hit HTTP/1.1\r\n\r\n");
        cases.put("two hosts", GET + HOST + "\r\n");
        cases.put("folded", GET + "X: a\r\n b\r\n\r\n");
        cases.put("bad line", "GET  /hit HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("version", "GET /hit HTTP/2.0\r\n" + HOST + "\r\n");
        cases.put("line too long", "GET /" + "a".repeat(600) + " HTTP/1.1\r\n" + HOST + "\r\n");
        cases.put("header too large", GET + "X: " + "a".repeat(3000) + "\r\n\r\n");
        cases.put("pipelined hits", (GET + "\r\n").repeat(20));
        cases.put("hits and misses", (GET + "\r\n" + GET.replace("/hit", "/private") + "\r\n").repeat(4));
        cases.put("more requests than a connection takes", (GET + "\r\n").repeat(40));
        cases.put(
                "more requests than that, with misses",
                (GET + "\r\n" + GET.replace("/hit", "/private") + "\r\n").repeat(20));
        return cases;
    }

    /** Requests that select a variant if the proxy compresses, and those whose query the key omits. */
    private static void putCodings(Map<String, String> cases) {
        cases.put("coding", GET + BR + "\r\n");
        cases.put("HEAD of a coding", GET.replace("GET", "HEAD") + BR + "\r\n");
        cases.put("coding that is not stored", GET + "Accept-Encoding: zstd\r\n\r\n");
        cases.put("no coding is accepted", GET + "Accept-Encoding: br;q=0, gzip;q=0\r\n\r\n");
        cases.put("If-None-Match of a coding", GET + BR + "If-None-Match: W/\"e\"\r\n\r\n");
        cases.put("If-None-Match of a coding, strong", GET + BR + "If-None-Match: \"e\"\r\n\r\n");
        cases.put("range of a coding", GET + BR + "Range: bytes=1-3\r\n\r\n");
        cases.put("long content in a coding", GET.replace("/hit", "/long") + BR + "\r\n");
        cases.put("stored error in a coding", GET.replace("/hit", "/gone") + BR + "\r\n");
        cases.put("no-transform", GET + BR + "Cache-Control: no-transform\r\n\r\n");
        cases.put("query that a key can omit", GET.replace("/hit", "/hit?utm_a=b") + "\r\n");
        cases.put("pipelined hits in codings", (GET + BR + "\r\n" + GET + "\r\n").repeat(8));
    }

    private static void answer(RawOrigin.Exchange request) throws IOException {
        String fresh = "Cache-Control: max-age=600\r\nETag: \"e\"\r\nLast-Modified: Thu, 01 Jan 2020 00:00:00 GMT\r\n"
                + "Content-Type: text/plain\r\nX-Origin: o\r\n";
        if (request.has(" /empty")) {
            request.ok(fresh, new byte[0]);
        } else if (request.has(" /gone")) {
            request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n" + fresh + "\r\ngone");
        } else if (request.has(" /moved")) {
            request.send("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: /b\r\n" + fresh + "\r\n");
        } else if (request.has(" /moved-there")) {
            request.send("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: http://origin.example/b\r\n" + fresh
                    + "\r\n");
        } else if (request.has(" /none")) {
            request.send("HTTP/1.1 204 No Content\r\n" + fresh + "\r\n");
        } else if (request.has(" /long")) {
            request.ok(fresh, ProxyExtension.content(200_000));
        } else if (request.has(" /most")) {
            request.ok(fresh, ProxyExtension.content(32 * 1024));
        } else if (request.has(" /stale")) {
            request.ok(
                    "Cache-Control: max-age=5, stale-while-revalidate=1000\r\nETag: \"s\"\r\n",
                    RawInput.latin1("stale"));
        } else if (request.has(" /vary")) {
            request.ok(fresh + "Vary: Accept-Language\r\n", RawInput.latin1("variant"));
        } else if (request.has("HEAD /private")) {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nCache-Control: no-store\r\n\r\n");
        } else if (request.has(" /private")) {
            if (request.has("POST")) {
                request.in().read(3);
            }
            request.ok("Cache-Control: no-store\r\n", RawInput.latin1("private"));
        } else {
            request.ok(fresh, RawInput.latin1("content of a hit"));
        }
    }

    /** Opens connections. */
    private interface Dialing {
        RawClient client(ProxyExtension proxy) throws IOException;
    }

    private void start(ProxyExtension proxy, boolean lane, Path log, @Nullable TestCertificate tls, Dialing dialing)
            throws IOException {
        proxy.start(BothLanesTest::answer, config -> more.apply(
                        tls == null ? config : config.listen("127.0.0.1:0", tls.certificate(), tls.key()))
                .set("worker.fast_lane", String.valueOf(lane))
                .rule(
                        RemapVerb.REVERSE_MAP,
                        "http://origin.example/",
                        "http://test.example/moved-here/",
                        ConfigValues.empty())
                .rule(
                        RemapVerb.MAP_WITH_REFERER,
                        "http://linked.example/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(RemapKeys.REFERERS, List.of("^http://b/"))
                                .set(RemapKeys.REFERER_REDIRECT, "http://test.example/")
                                .build())
                .set("limits.request_line", "512B")
                .set("limits.request_header", "2KiB")
                .set("limits.requests_per_connection", "30")
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", LOG)
                .set("via.response", "stack"));
        for (String path : List.of(
                "/hit",
                "/last",
                "/empty",
                "/gone",
                "/moved",
                "/moved-there",
                "/none",
                "/long",
                "/most",
                "/stale",
                "/purged")) {
            get(proxy, dialing, path);
        }
        get(proxy, dialing, "/vary", "Accept-Language: de\r\n");
        for (String path : List.of("/hit", "/gone", "/long")) {
            get(proxy, dialing, path, BR);
        }
        proxy.settle();
        proxy.advanceSeconds(10);
    }

    private static void get(ProxyExtension proxy, Dialing dialing, String path, String... fields) throws IOException {
        try (RawClient client = dialing.client(proxy)) {
            client.get(path, fields).response();
        }
    }

    @TestFactory
    Stream<DynamicTest> answersLinesAndCountsAreTheSameInBothLanes() throws Exception {
        return compare(null, proxy -> new RawClient(proxy.address()));
    }

    @TestFactory
    Stream<DynamicTest> answersLinesAndCountsOverTlsAreTheSameInFrontOfTheDecoderAndBehindIt() throws Exception {
        TestCertificate tls = TestCertificate.in(directory);
        return compare(tls, proxy -> tls.client(proxy.proxy().addresses().get(1)));
    }

    @TestFactory
    Stream<DynamicTest> answersLinesAndCountsAreTheSameInBothLanesWithRules() throws Exception {
        List<ConfigValues> rules = RulesOnTheWireTest.rules(
                "[{set_response_header: {X-Origin: rule}, add_response_header: {Link: [<a>, <b>]}},"
                        + " {when: 'status >= 400 || cache == \"stale\"',"
                        + " set_response_header: {Cache-Control: no-store}},"
                        + " {when: 'request_header[\"X-Who\"] == \"me\"',"
                        + " remove_response_header: [Content-Type, Link]},"
                        + " {when: 'path == \"/none\"', set_stored_header: {X-Stored: b}},"
                        + " {when: 'path =~ \"^/(private)\" && method == \"POST\"', redirect: {to: '/$1/b'}},"
                        + " {when: 'path == \"/miss\"', rewrite: {path: /hit}, set_request_header: {X-Sent: b}},"
                        + " {when: 'path == \"/no\"', answer: {status: 451, body: no}}]");
        more = config -> config.rules(rules);
        return compare(null, proxy -> new RawClient(proxy.address()));
    }

    @TestFactory
    Stream<DynamicTest> answersLinesAndCountsAreTheSameInBothLanesWithMatchAllRulesAndCompression() throws Exception {
        more = MatchAllRules::addTo;
        Stream<DynamicTest> tests = compare(null, proxy -> new RawClient(proxy.address()));
        assertTrue(fast.counted(Counter.COMPRESSED_BR) > 0);
        return tests;
    }

    @TestFactory
    Stream<DynamicTest> answersLinesAndCountsOverTlsAreTheSameWithMatchAllRulesAndCompression() throws Exception {
        more = MatchAllRules::addTo;
        TestCertificate tls = TestCertificate.in(directory);
        return compare(tls, proxy -> tls.client(proxy.proxy().addresses().get(1)));
    }

    private Stream<DynamicTest> compare(@Nullable TestCertificate tls, Dialing dialing) throws IOException {
        Path fastLog = directory.resolve("fast.log");
        Path channelLog = directory.resolve("channels.log");
        start(fast, true, fastLog, tls, dialing);
        start(channels, false, channelLog, tls, dialing);
        return cases().entrySet().stream()
                .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
                    Told inChannels = tell(channels, dialing, channelLog, each.getValue() + LAST);
                    Told inFastLane = tell(fast, dialing, fastLog, each.getValue() + LAST);
                    assertEquals(inChannels.answers(), inFastLane.answers());
                    assertEquals(inChannels.lines(), inFastLane.lines());
                    assertEquals(
                            inChannels.counts().toString(), inFastLane.counts().toString());
                    assertEquals(0, channels.counted(Counter.FAST_LANE_ANSWERED));
                    assertTrue(fast.counted(Counter.FAST_LANE_ANSWERED) > 0);
                }));
    }

    /** The identifier of a purge, which no two answers share. */
    private static final Pattern PURGE_ID = Pattern.compile("purge u[0-9a-z]{12,}");

    /** The observable results of requests: responses, log lines and counters. */
    private record Told(String answers, List<String> lines, Map<Counter, Long> counts) {}

    private static Told tell(ProxyExtension proxy, Dialing dialing, Path log, String wire) throws IOException {
        awaitEnd(proxy);
        Map<Counter, Long> before = counts(proxy);
        List<String> linesBefore = lines(proxy, log);
        String answers;
        try (RawClient client = dialing.client(proxy)) {
            answers = new String(client.send(wire).in.readToEnd(), StandardCharsets.ISO_8859_1);
        }
        answers = PURGE_ID.matcher(answers).replaceAll("purge ID");
        awaitEnd(proxy);
        List<String> lines = lines(proxy, log);
        Map<Counter, Long> counts = counts(proxy);
        before.forEach((counter, value) -> counts.merge(counter, -value, Long::sum));
        return new Told(answers, lines.subList(linesBefore.size(), lines.size()), counts);
    }

    private static void awaitEnd(ProxyExtension proxy) {
        proxy.settle();
        ProxyExtension.await(
                "the connections are over",
                () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 0 && proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }

    private static Map<Counter, Long> counts(ProxyExtension proxy) {
        Map<Counter, Long> counts = new TreeMap<>();
        for (Counter counter : Counter.values()) {
            Metric family = counter.family();
            // The lanes' own; and what is carried over from time to time.
            if (family != MetricFamily.FAST_LANE_MOVES
                    && family != MetricFamily.FAST_LANE_REQUESTS
                    && !counter.name().startsWith("ORIGIN_CONNECTIONS")
                    && counter != Counter.ORIGIN_RETRIES) {
                counts.put(counter, proxy.counted(counter));
            }
        }
        return counts;
    }

    /** Returns as many lines as requests are counted. */
    private static List<String> lines(ProxyExtension proxy, Path log) {
        long requests = 0;
        for (Counter counter : Counter.values()) {
            requests += counter.family() == MetricFamily.REQUESTS ? proxy.counted(counter) : 0;
        }
        long wanted = requests;
        ProxyExtension.await("the log has " + wanted + " lines", () -> read(log).size() >= wanted);
        return new ArrayList<>(read(log));
    }

    /** Returns the complete lines; the last one may still be being written. */
    private static List<String> read(Path log) {
        try {
            String text = Files.exists(log) ? Files.readString(log, StandardCharsets.ISO_8859_1) : "";
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
