package io.millrace.proxy.exchange.esi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.ForwardSettings;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.observe.LoopCounters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the assembly of pages on an event loop whose tasks run only on demand. */
final class AssembledResponseTest {
    private static final FieldSection ESI = FieldSection.builder()
            .add("Surrogate-Control", "content=\"ESI/1.0\"")
            .build();

    private final List<String> calls = new ArrayList<>();
    private final PageMemory memory = new PageMemory();
    private final RecordingStream client = new RecordingStream();
    private final ExchangeSettings settings = settings();
    private final PageAssembler assembler =
            new PageAssembler(new Fragments(), () -> settings, new LoopCounters(), memory);

    private int requested;
    private boolean isFragmentHeld;
    private boolean isFragmentFaulty;

    /** An exchange that does nothing. */
    private final class Exchange implements RequestHandler, AssembledResponse.Caller {
        private final String name;

        Exchange(String name) {
            this.name = name;
        }

        @Override
        public int onPageFailure(PageFailure failure, boolean closing) {
            calls.add(name + " failure " + failure.status() + " " + failure.detail() + (closing ? " close" : ""));
            return 0;
        }

        @Override
        public void onPageEnd(boolean isComplete) {
            calls.add(name + " end " + isComplete);
        }

        @Override
        public void onPageBroken(PageFailure failure) {
            calls.add(name + " broken " + failure.detail());
        }

        @Override
        public void onContent(ByteBuf content) {
            content.release();
        }

        @Override
        public void onRequestEnd() {
            calls.add(name + " request end");
        }

        @Override
        public void onRequestFailure(BadRequest reason) {}

        @Override
        public void onWritable() {}

        @Override
        public void onClientGone() {
            calls.add(name + " gone");
        }
    }

    private static ExchangeSettings settings() {
        ConfigResult result = ConfigLoader.parse(
                "listen: ['127.0.0.1:0']\nesi: {max_includes: 1000}\nlimits: {memory_esi: 1MiB}\n"
                        + "remap: [{map: /, to: 'http://127.0.0.1:1'}]\n",
                "m.yaml",
                Path.of(""),
                Map.of());
        ProxyConfig config = result.config();
        assertNotNull(config, result::text);
        return ExchangeSettings.of(
                config, config, ForwardSettings.of(config, config, null, new OwnAddresses(), 0), null, null);
    }

    /** Answers the requests for fragments. */
    private final class Fragments implements RequestReceiver {
        @Override
        public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
            requested++;
            if (isFragmentFaulty) {
                throw new IllegalStateException("a fault of the test");
            }
            if (!isFragmentHeld) {
                stream.writeHead(new OutboundHead().reset(200, "OK", FieldSection.EMPTY));
                stream.write(Unpooled.copiedBuffer("F", StandardCharsets.ISO_8859_1));
                stream.finish();
            }
            return new Exchange("fragment");
        }

        @Override
        public void onBadRequest(ClientStream stream, BadRequest reason) {
            throw new AssertionError(reason);
        }
    }

    private AssembledResponse begin(int status, String... fields) {
        FieldSection.Builder request = FieldSection.builder().add("Host", "a.example");
        for (int i = 0; i < fields.length; i += 2) {
            request.add(fields[i], fields[i + 1]);
        }
        TargetUri target = (TargetUri) TargetUri.parseAbsolute("http://a.example/page?secret");
        AssembledResponse response = assembler.begin(client, RequestHead.of(Method.GET, target, 1, request.build()));
        EdgeRules edge = settings.edge();
        assertNotNull(edge);
        assertNotNull(response);
        Exchange exchange = new Exchange("page");
        response.handler(exchange);
        response.caller(exchange);
        response.decided(edge.esi(0));
        assertTrue(response.begins(ESI));
        response.writeHead(new OutboundHead().reset(status, "", ESI));
        return response;
    }

    private AssembledResponse page(String document) {
        AssembledResponse response = begin(200);
        response.write(Unpooled.copiedBuffer(document, StandardCharsets.ISO_8859_1));
        assertTrue(response.finishPage());
        return response;
    }

    @Test
    void aPageGivesItsMemoryBack() {
        AssembledResponse response = page("a<esi:include src='/f'/>b");
        assertTrue(memory.usedBytes() > 0);
        client.runTasks();
        assertEquals("aFb", client.text());
        assertEquals(3, response.pageBytes());
        assertEquals(List.of("head 200", "finish"), client.calls);
        assertEquals(List.of("fragment request end", "page end true"), calls);
        assertEquals(0, memory.usedBytes());
    }

    /** An exception in a request for a fragment must not leave the client without a response. */
    @Test
    void anExceptionBeforeTheHeadIsAnswered() {
        isFragmentFaulty = true;
        page("a<esi:include src='/f' onerror='continue'/>b");
        client.runTasks();
        assertEquals(List.of("page failure 502 esi-internal", "page end true"), calls);
        assertEquals(List.of("finish"), client.calls);
        assertEquals(0, memory.usedBytes());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anExceptionAfterTheHeadAbortsTheResponse(boolean isLater) {
        client.isBroken = !isLater;
        client.writableCount = isLater ? 0 : 1;
        AssembledResponse response = page("a");
        client.runTasks();
        if (isLater) {
            client.isBroken = true;
            client.writableCount = 1;
            response.onWritable();
        }
        assertEquals(List.of("page broken esi-internal"), calls);
        assertEquals(List.of("head 200", "abort"), client.calls);
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void anExceptionInARepeatedRequestIsAnswered() {
        AssembledResponse response = begin(206, "Range", "bytes=0-1");
        isFragmentFaulty = true;
        assertFalse(response.finishPage());
        assertFalse(response.repeat());
        assertEquals(List.of("page failure 502 esi-internal"), calls);
        assertEquals(List.of("finish"), client.calls);
    }

    /** The end of the client's request arrives before or after the repetition; the second exchange gets it once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRepeatedRequestEndsOnce(boolean isOver) {
        isFragmentHeld = true;
        AssembledResponse response = begin(206, "Range", "bytes=0-1");
        if (isOver) {
            response.onRequestEnd();
        }
        assertFalse(response.finishPage());
        assertTrue(response.repeat());
        assertFalse(response.repeat());
        if (!isOver) {
            response.onRequestEnd();
        }
        assertEquals(
                isOver ? List.of("page request end", "fragment request end") : List.of("fragment request end"), calls);
    }

    @Test
    void aClientThatLeavesCancelsTheAssembly() {
        isFragmentHeld = true;
        AssembledResponse response = page("a<esi:include src='/f'/>b");
        client.runTasks();
        assertTrue(memory.usedBytes() > 0);
        response.onClientGone();
        client.runTasks();
        assertEquals(List.of("fragment request end", "page gone", "fragment gone"), calls);
        assertEquals(List.of(), client.calls);
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void aClientThatLeavesDuringThePageGivesItsMemoryBack() {
        client.writableCount = 1;
        AssembledResponse response = page("x".repeat(PageSender.SLICE_BYTES + 1));
        client.runTasks();
        assertTrue(memory.usedBytes() > 0);
        response.onClientGone();
        assertEquals(List.of("page gone"), calls);
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void pagesBeyondTheMemoryAreRefused() {
        isFragmentHeld = true;
        page("x".repeat(600_000) + "<esi:include src='/f'/>");
        client.runTasks();
        long used = memory.usedBytes();
        AssembledResponse second = begin(200);
        second.write(Unpooled.copiedBuffer("x".repeat(600_000), StandardCharsets.ISO_8859_1));
        assertEquals(List.of("fragment request end", "page failure 503 esi-memory"), calls);
        assertEquals(used, memory.usedBytes());
        client.runTasks();
        assertEquals("page end false", calls.get(2));
    }

    private PageSender sender(PageContent content) {
        return new PageSender(client, content, new PageSender.End() {
            @Override
            public void onSent() {
                calls.add("sent");
            }

            @Override
            public void onFault(Throwable fault) {
                throw new AssertionError(fault);
            }

            @Override
            public void onTooSlow() {
                calls.add("too slow");
            }
        });
    }

    /** Such a client would hold the memory of the page for as long as it likes. */
    @Test
    void aClientThatTakesNothingForAMinuteIsTooSlow() {
        PageContent content = new PageContent();
        for (int i = 0; i < 3; i++) {
            content.add(new byte[PageSender.SLICE_BYTES], 0, PageSender.SLICE_BYTES);
        }
        PageSender sender = sender(content);
        client.writableCount = 1;
        sender.send();
        client.advanceSeconds(PageSender.STALL_SECONDS - 1);
        client.writableCount = 1;
        sender.send();
        client.advanceSeconds(PageSender.STALL_SECONDS - 1);
        assertEquals(List.of(), calls);
        client.advanceSeconds(1);
        assertEquals(List.of("too slow"), calls);
        assertEquals(2, client.writes.size());
        assertEquals(0, content.length());
    }

    /** Without the limit, a client that receives everything would occupy the loop for the whole page. */
    @Test
    void longPagesAreSentInSlicesAndTurns() {
        String slice = "x".repeat(PageSender.SLICE_BYTES);
        PageContent content = new PageContent();
        for (int i = 0; i < 40; i++) {
            content.add(slice.getBytes(StandardCharsets.ISO_8859_1), 0, slice.length() - (i == 39 ? 1 : 0));
        }
        PageSender sender = sender(content);
        client.writableCount = 2;
        sender.send();
        assertEquals(2, client.writes.size());
        client.writableCount = Integer.MAX_VALUE;
        sender.send();
        assertEquals(2 + PageSender.TASK_BYTES_MAX / PageSender.SLICE_BYTES, client.writes.size());
        sender.send();
        assertEquals(2 + PageSender.TASK_BYTES_MAX / PageSender.SLICE_BYTES, client.writes.size(), "a task is pending");
        client.runTasks();
        assertEquals(40, client.writes.size());
        assertEquals(List.of("sent"), calls);
        assertEquals(40L * slice.length() - 1, sender.sentBytes());
        assertEquals(slice.length() - 1, client.writes.get(39));
    }

    @Test
    void smallPartsShareAWrite() {
        page("a<esi:comment text=''/>".repeat(1000));
        client.runTasks();
        assertEquals(List.of(1000), client.writes);
    }

    /** Fragments in RAM are answered at once; the loop must serve other connections in between. */
    @Test
    void manyFragmentsYieldTheEventLoop() {
        List<Integer> seen = new ArrayList<>();
        page("<esi:include src='/f'/>".repeat(200));
        client.eventLoop().execute(() -> seen.add(requested));
        client.runTasks();
        assertEquals(List.of(PageAssembly.REQUESTS_PER_TASK_MAX), seen);
        assertEquals("F".repeat(200), client.text());
    }
}
