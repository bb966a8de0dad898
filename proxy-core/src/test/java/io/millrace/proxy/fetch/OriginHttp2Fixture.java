package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig.Http2;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Tests calls over HTTP/2 to an origin that sends the frames of a test. */
abstract class OriginHttp2Fixture extends FetchFixture {
    static final int NO_ERROR = 0;
    static final int INTERNAL_ERROR = 2;
    static final int REFUSED_STREAM = 7;

    OriginRequest h2(ScriptedOrigin origin, UnaryOperator<OriginRequest.Builder> more) {
        return request(origin.origin(), builder -> more.apply(builder.http2(Http2.PRIOR_KNOWLEDGE)));
    }

    OriginRequest h2(ScriptedOrigin origin, String path) {
        return h2(origin, builder -> builder.target(path));
    }

    RecordedResponse start(OriginRequest request) throws Exception {
        RecordedResponse response = new RecordedResponse();
        start(request, response);
        return response;
    }

    List<RecordedResponse> startAll(ScriptedOrigin origin, int count) throws Exception {
        List<OriginRequest> requests = new ArrayList<>();
        List<RecordedResponse> responses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.add(h2(origin, "/" + i));
            responses.add(new RecordedResponse());
        }
        runOnLoop(() -> {
            for (int i = 0; i < count; i++) {
                client.fetch(requests.get(i), responses.get(i));
            }
        });
        return responses;
    }

    static ByteBuf bytes(int length) {
        return Unpooled.wrappedBuffer("x".repeat(length).getBytes(StandardCharsets.US_ASCII));
    }

    static ByteBuf bytes(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }
}
