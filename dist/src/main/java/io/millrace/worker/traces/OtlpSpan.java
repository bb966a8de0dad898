package io.millrace.worker.traces;

import io.millrace.proxy.observe.trace.Span;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import io.opentelemetry.sdk.common.InstrumentationLibraryInfo;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A span in the data model of the OpenTelemetry SDK. Immutable. */
final class OtlpSpan implements SpanData {
    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("io.millrace");

    private final Span span;
    private final Resource resource;
    private final SpanContext context;
    private final SpanContext parent;
    private final Attributes attributes;
    private final List<LinkData> links;

    OtlpSpan(Span span, Resource resource) {
        this.span = span;
        this.resource = resource;
        this.context =
                SpanContext.create(span.traceId(), span.spanId(), TraceFlags.getSampled(), state(span.traceState()));
        String parentId = span.parentId();
        // A SERVER span's parent is in another process, a CLIENT span's parent in this one.
        this.parent = parentId == null
                ? SpanContext.getInvalid()
                : span.kind() == Span.Kind.SERVER
                        ? SpanContext.createFromRemoteParent(
                                span.traceId(), parentId, TraceFlags.getSampled(), TraceState.getDefault())
                        : SpanContext.create(
                                span.traceId(), parentId, TraceFlags.getSampled(), TraceState.getDefault());
        this.attributes = attributes(span.attributes());
        Span.Link link = span.link();
        this.links = link == null
                ? List.of()
                : List.of(LinkData.create(SpanContext.create(
                        link.traceId(), link.spanId(), TraceFlags.getSampled(), TraceState.getDefault())));
    }

    private static TraceState state(@Nullable String field) {
        if (field == null) {
            return TraceState.getDefault();
        }
        TraceStateBuilder state = TraceState.builder();
        // The builder puts each member in front of the others.
        String[] members = field.split(",", -1);
        for (int i = members.length - 1; i >= 0; i--) {
            int equal = members[i].indexOf('=');
            if (equal > 0) {
                state.put(
                        members[i].substring(0, equal).strip(),
                        members[i].substring(equal + 1).strip());
            }
        }
        return state.build();
    }

    private static Attributes attributes(Map<String, Object> of) {
        AttributesBuilder builder = Attributes.builder();
        of.forEach((name, value) -> {
            if (value instanceof Long number) {
                builder.put(name, number.longValue());
            } else if (value instanceof Boolean truth) {
                builder.put(name, truth.booleanValue());
            } else {
                builder.put(name, value.toString());
            }
        });
        return builder.build();
    }

    @Override
    public String getName() {
        return span.name();
    }

    @Override
    public SpanKind getKind() {
        return span.kind() == Span.Kind.SERVER ? SpanKind.SERVER : SpanKind.CLIENT;
    }

    @Override
    public SpanContext getSpanContext() {
        return context;
    }

    @Override
    public SpanContext getParentSpanContext() {
        return parent;
    }

    @Override
    public StatusData getStatus() {
        return span.isError() ? StatusData.error() : StatusData.unset();
    }

    @Override
    public long getStartEpochNanos() {
        return span.startEpochNanos();
    }

    @Override
    public Attributes getAttributes() {
        return attributes;
    }

    @Override
    public List<EventData> getEvents() {
        return List.of();
    }

    @Override
    public List<LinkData> getLinks() {
        return links;
    }

    @Override
    public long getEndEpochNanos() {
        return span.endEpochNanos();
    }

    @Override
    public boolean hasEnded() {
        return true;
    }

    @Override
    public int getTotalRecordedEvents() {
        return 0;
    }

    @Override
    public int getTotalRecordedLinks() {
        return links.size();
    }

    @Override
    public int getTotalAttributeCount() {
        return attributes.size();
    }

    @Override
    @SuppressWarnings("deprecation") // the interface still requires it
    public InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
        return InstrumentationLibraryInfo.create(SCOPE.getName(), SCOPE.getVersion());
    }

    @Override
    public InstrumentationScopeInfo getInstrumentationScopeInfo() {
        return SCOPE;
    }

    @Override
    public Resource getResource() {
        return resource;
    }
}
