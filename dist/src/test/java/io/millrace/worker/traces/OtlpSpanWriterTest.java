package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import io.millrace.proxy.Version;
import io.millrace.proxy.observe.trace.Span;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the encoding of spans against the classes that protoc has generated from OTLP's definitions. */
class OtlpSpanWriterTest {
    private static final int SAMPLED = 0x101;
    private static final int SAMPLED_REMOTE = 0x301;

    private final List<Span> copies = new ArrayList<>();
    private final OtlpResource resource = new OtlpResource("h\u00e9", 300);
    private final OtlpSpanWriter writer = new OtlpSpanWriter();
    private final OtlpBatch batch = new OtlpBatch(resource);

    /** Encodes spans, compares each byte and each value, and returns the decoded ones. */
    private List<io.opentelemetry.proto.trace.v1.Span> decoded(RecordedSpans spans) throws Exception {
        spans.each(span -> {
            writer.append(span, batch.buffer());
            batch.added();
            copies.add(span.copy());
        });
        int start = batch.complete();
        byte[] bytes =
                Arrays.copyOfRange(batch.buffer().bytes(), start, batch.buffer().end());
        ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(bytes);
        assertArrayEquals(request.toByteArray(), bytes);
        ExportTraceServiceRequest.Builder expected = ExportTraceServiceRequest.newBuilder();
        ResourceSpans.Builder spansOfResource = expected.addResourceSpansBuilder();
        spansOfResource.setResource(Resource.newBuilder()
                .addAttributes(attribute("service.name", "h\u00e9"))
                .addAttributes(attribute("service.version", Version.current()))
                .addAttributes(attribute("process.pid", 300L)));
        ScopeSpans.Builder scope = spansOfResource.addScopeSpansBuilder();
        scope.getScopeBuilder().setName("io.millrace");
        copies.forEach(copy -> scope.addSpans(message(copy)));
        assertEquals(expected.build(), request);
        return request.getResourceSpans(0).getScopeSpans(0).getSpansList();
    }

    private static KeyValue attribute(String name, Object value) {
        AnyValue.Builder any = AnyValue.newBuilder();
        if (value instanceof Long number) {
            any.setIntValue(number);
        } else if (value instanceof Boolean truth) {
            any.setBoolValue(truth);
        } else {
            any.setStringValue((String) value);
        }
        return KeyValue.newBuilder().setKey(name).setValue(any).build();
    }

    private static ByteString id(String digits) {
        return ByteString.copyFrom(HexFormat.of().parseHex(digits));
    }

    private static io.opentelemetry.proto.trace.v1.Span message(Span span) {
        boolean isServer = span.kind() == Span.Kind.SERVER;
        io.opentelemetry.proto.trace.v1.Span.Builder message = io.opentelemetry.proto.trace.v1.Span.newBuilder()
                .setTraceId(id(span.traceId()))
                .setSpanId(id(span.spanId()))
                .setName(span.name())
                .setKindValue(isServer ? 2 : 3)
                .setStartTimeUnixNano(span.startEpochNanos())
                .setEndTimeUnixNano(span.endEpochNanos())
                .setFlags(isServer && span.parentId() != null ? SAMPLED_REMOTE : SAMPLED);
        if (span.traceState() != null) {
            message.setTraceState(span.traceState());
        }
        if (span.parentId() != null) {
            message.setParentSpanId(id(span.parentId()));
        }
        for (Map.Entry<String, Object> each : span.attributes().entrySet()) {
            message.addAttributes(attribute(each.getKey(), each.getValue()));
        }
        Span.@Nullable Link link = span.link();
        if (link != null) {
            message.addLinksBuilder()
                    .setTraceId(id(link.traceId()))
                    .setSpanId(id(link.spanId()))
                    .setFlags(SAMPLED);
        }
        if (span.isError()) {
            message.setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR));
        }
        return message.build();
    }

    @ParameterizedTest
    @EnumSource
    void aSpanIsEncoded(SpanCase shape) throws Exception {
        assertEquals(1, decoded(RecordedSpans.only(shape::write, true)).size());
    }

    @ParameterizedTest
    @EnumSource
    void aSpanOfATraceOfAnotherProxyIsEncoded(SpanCase shape) throws Exception {
        String state =
                decoded(RecordedSpans.only(shape::writeContinued, false)).get(0).getTraceState();
        // A state that is too long loses whole members.
        assertEquals(shape.traceState().length() > 512 ? "a=1" : shape.traceState(), state);
    }

    @ParameterizedTest
    @EnumSource
    void linkedSpansAreEncoded(SpanCase shape) throws Exception {
        List<io.opentelemetry.proto.trace.v1.Span> both =
                decoded(RecordedSpans.only(shape::writeLinked, shape.number() % 2 == 0));
        assertEquals(both.get(0).getSpanId(), both.get(1).getLinks(0).getSpanId());
    }

    /** The lengths before the spans take one to three bytes. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 100})
    void batchesOfSpansAreEncoded(int spans) throws Exception {
        RecordedSpans all = RecordedSpans.only(
                traces -> {
                    List<SpanCase> shapes = List.of(SpanCase.values());
                    for (int i = 0; i < spans; i++) {
                        shapes.get(i % shapes.size()).write(traces);
                    }
                },
                false);
        assertEquals(spans, decoded(all).size());
    }
}
