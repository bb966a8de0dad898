package io.millrace.proxy;

import io.millrace.proxy.observe.trace.Span;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.SpanExport;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.SpanView;
import io.millrace.proxy.observe.trace.TraceConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** An export that keeps all spans, for tests. It is open while the settings have an endpoint. Thread-safe. */
final class CollectedSpans implements SpanExport {
    private final List<Span> spans = new ArrayList<>();
    private TraceConfig config;
    private int open;

    @Override
    public synchronized SpanSink open(TraceConfig settings, SpanCounts counts) {
        config = settings;
        if (settings.endpoint() == null) {
            return null;
        }
        open++;
        return new SpanSink() {
            @Override
            public void accept(SpanView view) {
                synchronized (CollectedSpans.this) {
                    spans.add(view.copy());
                    counts.exported(1);
                }
            }

            @Override
            public void close() {
                synchronized (CollectedSpans.this) {
                    open--;
                }
            }
        };
    }

    synchronized List<Span> all() {
        return List.copyOf(spans);
    }

    /** The settings of the last call of open. */
    synchronized TraceConfig config() {
        return config;
    }

    /** The number of receivers that are not closed. */
    synchronized int open() {
        return open;
    }

    /** Waits for the only span that fulfils the condition. */
    Span one(String what, Predicate<Span> condition) {
        ProxyExtension.await(what, () -> all().stream().anyMatch(condition));
        List<Span> found = all().stream().filter(condition).toList();
        if (found.size() != 1) {
            throw new AssertionError(what + ": " + found);
        }
        return found.get(0);
    }

    /** Waits for the span of the client's request for a path. */
    Span server(String path) {
        return one(
                "the span of " + path,
                span -> span.kind() == Span.Kind.SERVER
                        && path.equals(span.attributes().get("url.path")));
    }

    /** Waits for the only span below another one. */
    Span below(Span parent) {
        return one("a span below " + parent.spanId(), span -> parent.spanId().equals(span.parentId()));
    }
}
