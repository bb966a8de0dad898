package io.millrace.proxy.http1;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.http.HeadScanner;
import io.millrace.proxy.net.ClientConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Benchmark of parsing a browser's request, from the received bytes to a validated head. Confined to one thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestReadBenchmark {
    private static final int LENGTH_MAX = 16 * 1024;

    private final ByteBuf in = Unpooled.directBuffer()
            .writeBytes(StoredResponses.browserRequestText().getBytes(StandardCharsets.ISO_8859_1));
    private final ClientConnection connection = new ClientConnection(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080),
            false);
    private final HeadScanner scanner = new HeadScanner();

    /** Parses one request. */
    @Benchmark
    public Object read() {
        scanner.reset();
        int length = scanner.scan(in, LENGTH_MAX);
        byte[] bytes = new byte[length];
        in.getBytes(0, bytes);
        ParsedRequest reading = ParsedRequest.of(bytes, scanner.startLineLength(), connection);
        if (reading.problem() != null) {
            throw new IllegalStateException("refused: " + reading.problem());
        }
        return reading;
    }

    /** Releases the buffer. */
    @TearDown
    public void release() {
        in.release();
    }
}
