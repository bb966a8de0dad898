package io.millrace.wasm;

import com.sun.management.ThreadMXBean;
import io.millrace.wasm.abi.HeaderMap;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/**
 * Measures the cost of a filter that adds one field to a request, without a proxy. Prints a table: time and allocated
 * bytes of one callback, and the time from an event loop's hand-over to the result, each in the best round. Run by
 * hand; the results are in benchmarks/results.
 */
final class RequestCost {
    private static final int ROUNDS = 10;
    private static final int CALLS = 20_000;

    private RequestCost() {}

    private static RequestCopy copy() {
        HeaderMap fields = new HeaderMap()
                .with(":method", "GET")
                .with(":path", "/x")
                .with(":authority", "www.example.com")
                .with(":scheme", "http")
                .with("user-agent", "curl/8.5.0")
                .with("accept", "*/*")
                .with("accept-encoding", "gzip, br")
                .with("cookie", "session=0123456789abcdef");
        return new RequestCopy(
                "GET", "http", "www.example.com", "/x", null, "HTTP/1.1", "127.0.0.1", "/", fields, true);
    }

    /** Prints one line for each engine and module. */
    public static void main(String[] args) throws Exception {
        for (boolean isCompiled : new boolean[] {false, true}) {
            Shared shared = Shared.of(new Canned.Context(), Canned.settings(isCompiled));
            String engine = isCompiled ? "compiler" : "interpreter";
            WasmProgram program = WasmProgram.load(WasmProxy.bytes("request.wasm"), shared);
            print(engine + ", request, same thread", new WasmInstance(program, shared, 0, 0, null), true);
            handOver(engine + ", request, with the hand-over", program, shared);
        }
        Shared shared = Canned.shared();
        WasmProgram program = WasmProgram.load(WasmProxy.bytes("response.wasm"), shared);
        print("response, counted instructions", new WasmInstance(program, shared, 1_000_000, 100_000, null), false);
    }

    private static void print(String name, WasmInstance instance, boolean isRequest) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double[] micros = new double[ROUNDS];
        long bytes = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long allocated = threads.getCurrentThreadAllocatedBytes();
            long began = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                if (isRequest) {
                    instance.request(HttpContext.ofRequest(copy(), true));
                    HttpContext ignored = instance.takeEnded();
                } else {
                    HeaderMap fields = new HeaderMap().with(":status", "200").with("content-type", "text/html");
                    instance.response(HttpContext.ofResponse(
                            RequestCost::copy, new HttpContext.Response(200, fields, "hit", ""), java.util.Map.of()));
                }
            }
            micros[round] = (System.nanoTime() - began) / 1000.0 / CALLS;
            bytes = (threads.getCurrentThreadAllocatedBytes() - allocated) / CALLS;
        }
        line(name, micros, bytes);
    }

    /** One call at a time from another thread, as from an event loop without load. */
    private static void handOver(String name, WasmProgram program, Shared shared) throws Exception {
        double[] micros = new double[ROUNDS];
        try (RequestWorkers workers = new RequestWorkers(program, shared)) {
            workers.start();
            for (int round = 0; round < ROUNDS; round++) {
                long began = System.nanoTime();
                for (int i = 0; i < CALLS; i++) {
                    CountDownLatch ended = new CountDownLatch(1);
                    HttpContext message = HttpContext.ofRequest(copy(), true);
                    boolean ignored = workers.submit(new RequestWorkers.Call() {
                        @Override
                        public HttpContext message() {
                            return message;
                        }

                        @Override
                        public void done() {
                            ended.countDown();
                        }

                        @Override
                        public boolean isAbandoned() {
                            return false;
                        }

                        @Override
                        public void failed(Throwable cause) {
                            ended.countDown();
                        }
                    });
                    ended.await();
                }
                micros[round] = (System.nanoTime() - began) / 1000.0 / CALLS;
            }
        }
        line(name, micros, -1);
    }

    private static void line(String name, double[] micros, long bytes) {
        double least = Arrays.stream(micros).min().orElseThrow();
        System.out.println(
                String.format(Locale.ROOT, "| %s | %.1f us | %s |", name, least, bytes < 0 ? "-" : bytes + " B"));
    }
}
