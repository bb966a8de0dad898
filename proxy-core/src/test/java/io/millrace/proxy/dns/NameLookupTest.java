package io.millrace.proxy.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests answers of a name server on loopback, and their lifetimes. */
class NameLookupTest {
    private static final long WAIT_SECONDS = 20;

    private static long ttlSeconds(ScriptedNameServer server, String name) throws Exception {
        MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            EventLoop loop = group.next();
            DnsSettings settings = new DnsSettings(
                    List.of(server.address()),
                    List.of(),
                    Map.of(),
                    false,
                    TimeUnit.SECONDS.toNanos(WAIT_SECONDS),
                    0,
                    Long.MAX_VALUE,
                    0,
                    0,
                    0,
                    10,
                    10,
                    false);
            CompletableFuture<Long> found = new CompletableFuture<>();
            loop.execute(() -> {
                NameLookup lookup = NameLookup.byDns(loop, NioDatagramChannel.class, NioSocketChannel.class, settings);
                lookup.query(
                        name,
                        (addresses, ttlNanos) -> found.complete(ttlNanos),
                        (cause, isAnswer) -> found.completeExceptionally(cause));
                lookup.closeWhenUnused();
            });
            return TimeUnit.NANOSECONDS.toSeconds(found.get(WAIT_SECONDS, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, WAIT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    @ParameterizedTest(name = "alias for {0} s, address for {1} s: {2} s")
    @CsvSource({"5, 3600, 5", "3600, 5, 5"})
    void anAnswerIsGoodForTheShortestOfItsRecordsAliasesIncluded(int alias, int address, long expected)
            throws Exception {
        try (ScriptedNameServer server = new ScriptedNameServer()) {
            server.on("a.test", query -> List.of(query.alias(alias, "b.test", address, "192.0.2.1")));
            assertEquals(expected, ttlSeconds(server, "a.test"));
        }
    }

    @Test
    void theLongestTimeToLiveIsNoOverflow() throws Exception {
        try (ScriptedNameServer server = new ScriptedNameServer()) {
            server.has("a.test", Integer.MAX_VALUE, "192.0.2.1");
            assertEquals(Integer.MAX_VALUE, ttlSeconds(server, "a.test"));
        }
    }
}
