package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.ForwardSettings;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.server.ServingLoop;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests a reload between any two reads of the settings by one request. The request is processed with the settings
 * before or after the reload, and never with a mixture, such as one's rule with the other's access rights.
 */
class ReloadWithinRequestTest {
    /** The first two rules have other rights in the second table, and the last one is removed. */
    private static final String BEFORE = """
            remap:
              - {map: http://test.example/open/, to: '@origin/', purge: {allow: [127.0.0.1]}}
              - {map: http://test.example/closed/, to: '@origin/', purge: {allow: [192.0.2.1]}, methods: [GET, PURGE]}
              - {map: http://test.example/gone/, to: '@origin/', purge: {allow: [192.0.2.1]}}
            """;

    private static final String AFTER = """
            remap:
              - {map: http://test.example/closed/, to: '@origin/', purge: {allow: [192.0.2.1]}, methods: [GET, PURGE]}
              - {map: http://test.example/open/, to: '@origin/', purge: {allow: [127.0.0.1]}}
            """;

    private static final int LOOKS_MAX = 50;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private ExchangeSettings settings(String rules) {
        ConfigResult result = ConfigLoader.parse(
                rules.replace("@origin", proxy.origin().url()) + "listen: ['127.0.0.1:0']\n",
                "millrace.yaml",
                Path.of(""),
                Map.of());
        if (result.config() == null) {
            throw new AssertionError(result.text());
        }
        ProxyConfig config = result.config();
        return ExchangeSettings.of(
                config, config, ForwardSettings.of(config, config, null, new OwnAddresses(), 0), null, null);
    }

    /** Returns the status of a request that reads its settings from a supplier. */
    private int status(String method, String url, Supplier<ExchangeSettings> looks) throws Exception {
        ServingLoop serving = proxy.proxy().loops().get(0);
        ExchangeLoop.Shared all = proxy.proxy().shared();
        ExchangeLoop.Shared shared = new ExchangeLoop.Shared(
                all.store(),
                all.collapser(),
                all.uncacheable(),
                all.purger(),
                all.invalidator(),
                all.purges(),
                all.groups(),
                all.hosts(),
                all.overload(),
                all.clients(),
                all.encoderThreads(),
                all.dictionaries(),
                all.pages(),
                all.clock(),
                looks);
        AnsweredStream answer = new AnsweredStream(serving.loop());
        RequestHead head = RequestHead.of(
                method,
                (TargetUri) TargetUri.parseAbsolute("http://test.example" + url),
                FieldSection.builder().add("Host", "test.example").build());
        serving.loop()
                .submit(() -> {
                    ExchangeLoop home =
                            new ExchangeLoop(serving.loop(), shared, serving.origins(), new LoopCounters(), null);
                    RequestHandler handler = home.onRequest(answer, head, 0);
                    handler.onRequestEnd();
                })
                .get();
        ProxyExtension.await("an answer", answer::isEnded);
        return answer.status();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /open/a, 200, 200",
        "GET, /gone/a, 200, 404",
        "POST, /closed/a, 405, 405",
        "POST, /open/a, 200, 200",
        "OPTIONS, /closed/a, 405, 405",
        "PURGE, /open/a, 404, 404",
        "PURGE, /closed/a, 403, 403",
        "PURGE, /gone/a, 403, 404",
        "PURGE, /open/.*, 403, 403",
        "PURGE, /closed/.*, 403, 403",
        "PURGE, /gone/.*, 403, 403",
        "CONNECT, /open/a, 405, 405",
    })
    void aRequestIsAnsweredByOneOrTheOther(String method, String url, int before, int after) throws Exception {
        proxy.start(request -> request.ok("Cache-Control: no-store\r\n", new byte[0]));
        ExchangeSettings first = settings(BEFORE);
        ExchangeSettings then = settings(AFTER);
        AtomicInteger looks = new AtomicInteger();
        assertEquals(before, status(method, url, () -> {
            looks.incrementAndGet();
            return first;
        }));
        assertEquals(after, status(method, url, () -> then));
        int all = looks.get();
        assertTrue(all > 0 && all < LOOKS_MAX, () -> all + " looks");
        for (int changed = 1; changed <= all; changed++) {
            int at = changed;
            looks.set(0);
            int status = status(method, url, () -> looks.incrementAndGet() <= at ? first : then);
            assertTrue(
                    status == before || status == after,
                    () -> status + " where the settings change after look " + at + " of " + all);
        }
    }
}
