package io.millrace.worker.warmup;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetPositionResource;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends purges to the admin socket of the warm-up proxy, in batches as the launcher passes those of other nodes of a
 * fleet. Otherwise the first purge of another node would load more than a hundred classes. The first batch also causes
 * the JVM to load the classes of the admin API, and to record calls for Unix domain sockets in its profiles. The JIT
 * compiler would otherwise assume that no such calls happen, and discard the compiled code when a serving worker makes
 * them. After a failure, sends no more. Not thread-safe, except {@link #close}.
 */
final class WarmUpPurges implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUpPurges.class);

    /** Number of cycles per batch for a worker of a fleet. More than one, because each batch is written to disk. */
    private static final int CYCLES_IN_FLEET = 2;

    private static final int CYCLES_WITHOUT_FLEET = 8;

    /**
     * Limit of the length of the directory's path in bytes: the limit of a socket's path in Linux, less the bytes of a
     * slash and of the temporary name under which the socket is created.
     */
    private static final int DIRECTORY_BYTES_MAX = 107 - 10;

    private static final String NAME = "warm-up";

    private final @Nullable Path socket;
    private final int cyclesPerBatch;
    private volatile @Nullable SocketChannel channel;
    private volatile boolean ended;
    private @Nullable FleetPosition position;
    private long cycles;
    private final AtomicLong answered = new AtomicLong();

    /**
     * @param socket the admin socket; null for no purges
     * @param fleet whether the worker will be in a fleet
     */
    WarmUpPurges(@Nullable Path socket, boolean fleet) {
        this.socket = socket;
        cyclesPerBatch = fleet ? CYCLES_IN_FLEET : CYCLES_WITHOUT_FLEET;
        ended = socket == null;
    }

    /** Returns the path of the admin socket in a directory; null if the path would be too long for a socket. */
    static @Nullable Path socketIn(Path directory) {
        int bytes = directory.toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8).length;
        return bytes > DIRECTORY_BYTES_MAX ? null : directory.toAbsolutePath().resolve("admin");
    }

    /** Number of batches that were applied. */
    long answered() {
        return answered.get();
    }

    /** Sends a batch of purges in the first call, and then in every second or eighth call. */
    void cycle(List<String> urls) {
        if (ended || cycles++ % cyclesPerBatch != 0) {
            return;
        }
        try {
            apply(batch(urls));
            answered.incrementAndGet();
        } catch (IOException e) {
            LOG.debug("a purge of the warm-up failed, so the warm-up sends no more purges", e);
            close();
        }
    }

    private FleetBatch batch(List<String> urls) {
        FleetPosition before = position;
        long sequence = before == null ? 0 : before.sequence();
        List<FleetMessage> messages = new ArrayList<>();
        FleetPosition to = new FleetPosition(NAME, sequence, "");
        for (String url : urls) {
            sequence++;
            String id = FleetMessage.sharedId(NAME, Long.toString(sequence));
            FleetPurge purge = FleetPurge.of(FleetPurge.Action.URL, List.of(url), false);
            messages.add(new FleetMessage(NAME, NAME, NAME, id, purge));
            to = new FleetPosition(NAME, sequence, id);
        }
        position = to;
        return new FleetBatch(before, to, false, false, messages);
    }

    private void apply(FleetBatch batch) throws IOException {
        byte[] body = batch.bytes();
        String head = "POST " + FleetPositionResource.PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                + body.length + "\r\n\r\n";
        SocketChannel to = connected();
        write(to, head.getBytes(StandardCharsets.US_ASCII));
        write(to, body);
        String answer = answer(to);
        if (!answer.startsWith("HTTP/1.1 200 ")) {
            throw new IOException("the answer to a purge is " + answer);
        }
    }

    private SocketChannel connected() throws IOException {
        SocketChannel open = channel;
        if (open != null) {
            return open;
        }
        SocketChannel fresh = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel = fresh;
        if (ended) {
            close();
        }
        fresh.connect(UnixDomainSocketAddress.of(String.valueOf(socket)));
        return fresh;
    }

    private static void write(SocketChannel to, byte[] bytes) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(bytes);
        while (out.hasRemaining()) {
            to.write(out);
        }
    }

    /** Reads an answer, which is short and ends with its only JSON object. */
    private static String answer(SocketChannel from) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(4096);
        String text = "";
        while (!text.endsWith("}")) {
            if (from.read(in) <= 0) {
                throw new IOException("the answer to a purge ends after " + text);
            }
            text = new String(in.array(), 0, in.position(), StandardCharsets.US_ASCII);
        }
        return text;
    }

    /** Ends the connection, and aborts the request in progress. Thread-safe. */
    @Override
    public void close() {
        ended = true;
        try {
            SocketChannel open = channel;
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            LOG.debug("the connection for purges cannot be closed", e);
        }
    }
}
