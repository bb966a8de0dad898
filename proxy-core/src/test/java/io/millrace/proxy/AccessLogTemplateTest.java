package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests the access log of a running proxy in the configured formats. */
class AccessLogTemplateTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("access.log");
    }

    private List<String> lines(int count) {
        ProxyExtension.await("the log has " + count + " lines", () -> read().size() >= count);
        return read();
    }

    private List<String> read() {
        try {
            return Files.exists(file()) ? Files.readAllLines(file(), StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void start(String format) throws IOException {
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=60\r\nX-Origin: o " + request.number()
                                + "\r\nContent-Type: text/plain\r\n",
                        RawInput.latin1("hello")),
                config -> config.set("log.access.enabled", "true")
                        .set("log.access.path", file().toString())
                        .set("log.access.format", format));
    }

    @Test
    void templateShowsHeaderFieldsOfRequestsAndResponses() throws Exception {
        start("%<chi> \"%<cqhm> %<cquup>\" %<crc>/%<chm> %<pssc>/%<sssc> %<pscl> \"%<{X-Who}cqh>\" ssh=%<{x-origin}ssh>"
                + " cssh=%<{x-origin}cssh> psh=%<{X-Origin}psh> %<psct>");
        proxy.get("/a?b", "X-Who: \"me\"\r\n");
        proxy.get("/a?b");
        assertEquals(
                List.of(
                        "127.0.0.1 \"GET /a?b\" TCP_MISS/MISS_COLD 200/200 5 \"\\\"me\\\"\" ssh=o%201 cssh=- psh=o%201 text/plain",
                        "127.0.0.1 \"GET /a?b\" TCP_MEM_HIT/HIT_RAM 200/000 5 \"-\" ssh=- cssh=o%201 psh=o%201 text/plain"),
                lines(2));
    }

    @Test
    void jsonLinesAreObjects() throws Exception {
        start("json");
        proxy.get("/a", "User-Agent: \"x\"\r\n");
        String line = lines(1).get(0);
        assertTrue(line.startsWith("{\"time\":\"2026-01-01T00:00:00.000Z\",\"duration_ms\":"), line);
        assertTrue(
                line.contains(",\"client\":\"127.0.0.1\",\"result\":\"TCP_MISS\",\"cache\":\"uri-miss\",\"status\":200,"
                        + "\"origin_status\":200,"),
                line);
        assertTrue(line.endsWith(",\"type\":\"text/plain\",\"user_agent\":\"\\\"x\\\"\"}"), line);
    }

    @Test
    void detailHasTheMatchingCacheRules() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("hello")),
                config -> config.set("log.access.enabled", "true")
                        .set("log.access.path", file().toString())
                        .set("log.access.format", "%<cquup> %<detail> \"%<detail>\"")
                        .cacheRule(ConfigValues.builder()
                                .set(CacheRulesKeys.PREFIX, "/a")
                                .set(CacheRulesKeys.REVALIDATE, Duration.ofSeconds(5))
                                .build()));
        proxy.get("/a");
        proxy.get("/a");
        proxy.get("/b");
        assertEquals(
                List.of("/a cache_rules[0] \"cache_rules[0]\"", "/a cache_rules[0] \"cache_rules[0]\"", "/b - \"-\""),
                lines(3));
    }

    @Test
    void problemInATemplateHasLineColumnCodeAndASuggestion() {
        String yaml =
                "listen: [\":8080\"]\nremap:\n- {map: /, to: http://o}\nlog:\n  access:\n    format: '%<chi> %<cqhn>'\n";
        assertEquals(
                "millrace.yaml:6:13: log.access.format: 'cqhn' at character 8 is not a log field (did you mean cqhm?)",
                ConfigLoader.parse(yaml, "millrace.yaml", Map.of()).text().strip());
    }
}
