package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.body.BodyBuffer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests contents that the pool of instances refuses at a limit. Otherwise their responses would be cut. */
class RefusedBodyTest {
    @TempDir
    Path directory;

    private final List<WasmBody> open = new ArrayList<>();
    private WasmFilter filter;

    @BeforeEach
    void openFilter() throws Exception {
        Path file = directory.resolve("filter.wasm");
        WasmProxy.copy("body.wasm", file);
        Map<String, String> keys = Map.of("module", file.toString(), "instances", "1", "deadline", "PT1S");
        filter = WasmFilter.open(new ReloadTest.Context(System.getLogger("test"), new ReloadTest.Config(keys)), true);
    }

    @AfterEach
    void close() {
        open.forEach(WasmBody::close);
        filter.close();
    }

    /** The first result of a piece, as text. */
    private static final class Result extends CompletableFuture<String>
            implements Continuation<BodyTransformHook.Output> {
        @Override
        public void proceed() {
            complete("held back");
        }

        @Override
        public void proceed(Consumer<? super BodyTransformHook.Output> change) {
            change.accept(new BodyTransformHook.Output() {
                @Override
                public void write(ByteBuffer bytes) {
                    complete("written " + US_ASCII.decode(bytes));
                }

                @Override
                public void giveUp(ByteBuffer held, String reason) {
                    complete("given up " + US_ASCII.decode(held));
                }
            });
        }

        @Override
        public void fail(Throwable reason) {
            completeExceptionally(reason);
        }
    }

    private WasmBody body(String mode) {
        BodyBuffer buffer = new BodyBuffer(1000, filter.shared().bodies());
        HeaderMap fields = new HeaderMap().with(":status", "200").with("x-mode", mode);
        HttpContext message =
                HttpContext.ofBody(new HttpContext.Response(200, fields, "", "http://a/"), Map.of(), buffer);
        WasmBody body = new WasmBody(filter, message, buffer);
        open.add(body);
        return body;
    }

    private static Result chunk(WasmBody body) {
        Result result = new Result();
        body.chunk(ByteBuffer.wrap("content".getBytes(US_ASCII)), result);
        return result;
    }

    @Test
    void contentIsPassedOnIfAllInstancesAreFull() {
        for (int i = 0; i < PausedRequests.COUNT_MAX; i++) {
            assertEquals("held back", chunk(body("h")).join());
        }
        assertEquals("given up content", chunk(body("h")).join());
        assertEquals("held back", chunk(open.get(0)).join(), "the others continue");
        open.get(0).close();
        assertEquals("held back", chunk(body("h")).join(), "one has ended");
    }

    @Test
    void contentIsPassedOnIfTheQueueIsFull() {
        WasmBody endless = body("l");
        assertEquals("written content", chunk(endless).join());
        Result end = new Result();
        endless.end(end);
        // The instance serves the end first, which takes until the deadline.
        for (int i = 0; i < RequestWorkers.WAITING_MAX; i++) {
            Result ignored = chunk(body("h"));
        }
        assertEquals("given up content", chunk(body("h")).getNow("waits"));
    }
}
