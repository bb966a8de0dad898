package io.millrace.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports on loopback for servers that are started later or again. They are below the range for outgoing connections,
 * which could take a port between its choice and its use. Thread-safe.
 */
public final class FreePorts {
    private static final int FIRST = 10_240;
    private static final Path OUTGOING = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    private static final int OUTGOING_USUALLY = 32_768;

    private static final int END = firstOutgoing();

    /** Concurrent test JVMs take their ports from different ranges. Fork 0 runs alone. */
    private static final int FORK = Integer.getInteger("millrace.test.fork", 0);

    private static final int SLICES = 8;
    private static final int SLICE_LENGTH = FORK == 0 ? END - FIRST : (END - FIRST) / SLICES;
    private static final int SLICE_START = FORK == 0 ? FIRST : FIRST + FORK % SLICES * SLICE_LENGTH;
    private static final int SLICE_END = SLICE_START + SLICE_LENGTH;
    private static final AtomicInteger next =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(SLICE_START, SLICE_END));

    private FreePorts() {}

    /** Returns an unused port; each is returned again only after all others. */
    public static int next() {
        for (int tries = 0; tries < SLICE_LENGTH; tries++) {
            int port = next.getAndUpdate(last -> last + 1 < SLICE_END ? last + 1 : SLICE_START);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no port of " + SLICE_START + " to " + (SLICE_END - 1) + " is free");
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static int firstOutgoing() {
        if (!Files.isReadable(OUTGOING)) {
            return OUTGOING_USUALLY;
        }
        try {
            int first = Integer.parseInt(Files.readString(OUTGOING).strip().split("\\s+", -1)[0]);
            return first > FIRST + 1_000 ? first : OUTGOING_USUALLY;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
