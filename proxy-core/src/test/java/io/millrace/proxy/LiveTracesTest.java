package io.millrace.proxy;

import io.millrace.proxy.observe.trace.Span;
import io.millrace.proxy.observe.trace.TraceConfig;
import java.nio.file.Path;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the settings of traces. */
class LiveTracesTest {
    private static final String ON = "endpoint: 'https://127.0.0.1:1', ";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final CollectedSpans spans = new CollectedSpans();

    @BeforeEach
    void collect() {
        live.proxy().spans(spans);
    }

    /** Returns the number of spans of two requests, the second of which fails. */
    private int spansOfRequests() throws Exception {
        int before = spans.all().size();
        live.get(live.fresh());
        live.get("/fails" + live.fresh());
        if (spans.open() > 0) {
            ProxyExtension.await("the failed request", () -> spans.all().stream()
                    .skip(before)
                    .anyMatch(span -> span.isError() && span.kind() == Span.Kind.SERVER));
        }
        return spans.all().size() - before;
    }

    private LiveProxy file(String traces) {
        return live.file("traces: {" + traces + "}").script(request -> {
            if (request.has(" /fails")) {
                request.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
            } else {
                request.ok("Cache-Control: no-store\r\n", RawInput.latin1("content"));
            }
        });
    }

    /** Tests a setting that only the receiver of spans uses. */
    private <T> void receives(String setting, T before, T after, Function<TraceConfig, T> value) throws Exception {
        file(ON + setting).turns(before, after, () -> {
            ProxyExtension.await("one receiver", () -> spans.open() == 1);
            return value.apply(spans.config());
        });
    }

    @LiveKey("traces.endpoint")
    void endpoint() throws Exception {
        live.file("timeouts: {drain: 10s}\n<|traces: {endpoint: 'http://127.0.0.1:1', sample: 100%}>")
                .turns(0, 2, () -> {
                    live.get(live.fresh());
                    ProxyExtension.await(
                            "spans", () -> spans.open() == 0 || spans.all().size() == 2);
                    return spans.all().size();
                });
    }

    @LiveKey("traces.sample")
    void sample() throws Exception {
        file(ON + "sample: <0%|100%>").turns(2, 4, this::spansOfRequests);
    }

    @LiveKey("traces.slow_threshold")
    void slowThreshold() throws Exception {
        file(ON + "sample: 0%, slow_threshold: <0s|1us>").turns(2, 4, this::spansOfRequests);
    }

    @LiveKey("traces.query")
    void query() throws Exception {
        file(ON + "sample: 100%, query: <false|true>").turns("none", "x=1", () -> {
            // The receiver before the change reads no span of the next request.
            ProxyExtension.await("one receiver", () -> spans.open() == 1);
            String path = live.fresh();
            live.get(path + "?x=1");
            return String.valueOf(spans.server(path).attributes().getOrDefault("url.query", "none"));
        });
    }

    @LiveKey("traces.service_name")
    void serviceName() throws Exception {
        receives("service_name: <one|two>", "one", "two", TraceConfig::serviceName);
    }

    @LiveKey("traces.compression")
    void compression() throws Exception {
        receives(
                "compression: <none|gzip>",
                TraceConfig.Compression.NONE,
                TraceConfig.Compression.GZIP,
                TraceConfig::compression);
    }

    @LiveKey("traces.headers_file")
    void headersFile() throws Exception {
        receives("headers_file: /<one|two>", Path.of("/one"), Path.of("/two"), TraceConfig::headersFile);
    }

    @LiveKey("traces.tls.ca_file")
    void caFile() throws Exception {
        receives("tls: {ca_file: /<one|two>}", Path.of("/one"), Path.of("/two"), TraceConfig::caFile);
    }

    @LiveKey("traces.tls.certificate")
    void certificate() throws Exception {
        receives(
                "tls: {certificate: /<one|two>, key: /key}",
                Path.of("/one"),
                Path.of("/two"),
                TraceConfig::certificate);
    }

    @LiveKey("traces.tls.key")
    void key() throws Exception {
        receives("tls: {certificate: /c, key: /<one|two>}", Path.of("/one"), Path.of("/two"), TraceConfig::key);
    }
}
