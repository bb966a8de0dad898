package io.millrace.proxy.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.resolver.InetNameResolver;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.Ticker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the cached addresses of hosts, their lifetime, and the queries to name servers. The test sets the time. */
class HostAddressesTest {
    private static final long TTL_SECONDS = 100;
    private static final long NEGATIVE_SECONDS = 5;
    private static final long STALE_SECONDS = 1_000;

    private final MockTicker ticker = Ticker.newMockTicker();
    private final EmbeddedChannel channel =
            EmbeddedChannel.builder().ticker(ticker).build();
    private final EventLoop loop = channel.eventLoop();
    private final Asked asked = new Asked(loop);
    private DnsSettings settings = settings(100, 100, List.of());
    private final HostAddresses addresses =
            new HostAddresses(loop, () -> settings, chosen -> NameLookup.ofResolver(asked));

    /** Records the queries; the test answers them. */
    private static final class Asked extends InetNameResolver {
        final List<String> names = new ArrayList<>();
        final List<Promise<List<InetAddress>>> answers = new ArrayList<>();

        Asked(EventExecutor executor) {
            super(executor);
        }

        @Override
        protected void doResolve(String name, Promise<InetAddress> promise) {
            throw new UnsupportedOperationException("all addresses are asked for");
        }

        @Override
        protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
            names.add(name);
            answers.add(promise);
        }
    }

    private static DnsSettings settings(int hostsMax, int queriesMax, List<String> hostsOfFile) {
        return settings(
                hostsMax, queriesMax, hostsOfFile.isEmpty() ? Map.of() : Map.of("file.test", parsed(hostsOfFile)));
    }

    private static DnsSettings settings(int hostsMax, int queriesMax, Map<String, List<InetAddress>> hosts) {
        return new DnsSettings(
                List.of(),
                List.of(),
                hosts,
                false,
                TimeUnit.SECONDS.toNanos(2),
                TimeUnit.SECONDS.toNanos(TTL_SECONDS),
                TimeUnit.SECONDS.toNanos(TTL_SECONDS),
                TimeUnit.SECONDS.toNanos(NEGATIVE_SECONDS),
                TimeUnit.SECONDS.toNanos(STALE_SECONDS),
                TimeUnit.SECONDS.toNanos(60),
                hostsMax,
                queriesMax,
                false);
    }

    private static List<InetAddress> parsed(List<String> literals) {
        return literals.stream()
                .map(NetUtil::createInetAddressFromIpAddressString)
                .toList();
    }

    @AfterEach
    void closeAll() {
        addresses.close();
        assertFalse(channel.finish());
    }

    private void pass(long millis) {
        ticker.advanceMillis(millis);
        channel.runPendingTasks();
        channel.runScheduledPendingTasks();
    }

    private void passSeconds(long seconds) {
        pass(TimeUnit.SECONDS.toMillis(seconds));
    }

    private void answer(int query, String... literals) {
        asked.answers.get(query).setSuccess(parsed(List.of(literals)));
        channel.runPendingTasks();
    }

    private void refuse(int query) {
        asked.answers.get(query).setFailure(new UnknownHostException("no such name"));
        channel.runPendingTasks();
    }

    /** Answers like a name server that fails or does not answer. */
    private void fail(int query) {
        Throwable silent = new UnknownHostException("no answer").initCause(new IOException("timed out"));
        asked.answers.get(query).setFailure(silent);
        channel.runPendingTasks();
    }

    private static List<String> texts(Future<List<InetAddress>> found) {
        assertTrue(found.isSuccess(), () -> String.valueOf(found.cause()));
        return found.getNow().stream().map(NetUtil::toAddressString).toList();
    }

    private List<String> now(String host) {
        return texts(addresses.resolve(host));
    }

    private void known(String host, String... literals) {
        int query = asked.names.size();
        addresses.resolve(host);
        answer(query, literals);
    }

    @Test
    void reportOfCachedAnswersHasExpiryFailuresAndNegativeAnswers() {
        known("a.test", "192.0.2.1", "192.0.2.2");
        addresses.resolve("none.test");
        refuse(1);
        addresses.failed("a.test", NetUtil.createInetAddressFromIpAddressString("192.0.2.1"));
        passSeconds(3);
        List<HostAddresses.Known> known = addresses.known();
        assertEquals(
                new HostAddresses.Known(
                        "a.test",
                        Map.of(
                                NetUtil.createInetAddressFromIpAddressString("192.0.2.1"),
                                57_000L,
                                NetUtil.createInetAddressFromIpAddressString("192.0.2.2"),
                                0L),
                        TimeUnit.SECONDS.toMillis(TTL_SECONDS - 3),
                        null),
                known.get(1));
        assertEquals("no such name", known.get(0).negativeCause());
        assertEquals(Map.of(), known.get(0).addresses());
    }

    @Test
    void forgottenNamesAreQueriedAgain() {
        known("a.test", "192.0.2.1");
        known("b.test", "192.0.2.2");
        addresses.forget("a.test");
        known("a.test", "192.0.2.9");
        assertEquals(List.of("192.0.2.9"), now("a.test"));
        assertEquals(List.of("192.0.2.2"), now("b.test"));
        addresses.forget(null);
        assertEquals(List.of(), addresses.known());
    }

    /** A hosts file that counts its comparisons. */
    private static final class ComparedHosts extends AbstractMap<String, List<InetAddress>> {
        final AtomicInteger comparisons = new AtomicInteger();

        @Override
        public Set<Entry<String, List<InetAddress>>> entrySet() {
            return Map.of("file.test", parsed(List.of("192.0.2.1"))).entrySet();
        }

        @Override
        public boolean equals(Object other) {
            comparisons.incrementAndGet();
            return super.equals(other);
        }

        @Override
        public int hashCode() {
            return super.hashCode();
        }
    }

    /** A hosts file may be long, every reload reads it, and every request to an origin uses it. */
    @Test
    void aReloadThatChangesNothingOfNamesIsNoticedOnce() {
        known("a.test", "192.0.2.7");
        ComparedHosts hosts = new ComparedHosts();
        settings = settings(100, 100, hosts);
        known("a.test", "192.0.2.7");
        hosts.comparisons.set(0);
        ComparedHosts again = new ComparedHosts();
        settings = settings(100, 100, again);
        for (int i = 0; i < 10; i++) {
            assertEquals(List.of("192.0.2.7"), now("a.test"));
            assertEquals(List.of("192.0.2.1"), now("file.test"));
            assertFalse(addresses.queriesSrvRecords());
        }
        assertEquals(1, again.comparisons.get() + hosts.comparisons.get());
        assertEquals(2, asked.names.size(), "what was remembered stays");
    }

    @Test
    void addressesAreThemselves() {
        assertEquals(List.of("192.0.2.7"), now("192.0.2.7"));
        assertEquals(List.of("2001:db8::7"), now("2001:db8::7"));
        assertEquals(List.of(), asked.names);
    }

    @Test
    void rfc6761Section6_3_localhostIsLoopback() {
        List<String> loopback = List.of("127.0.0.1", "::1");
        assertEquals(loopback, now("localhost"));
        assertEquals(loopback, now("LocalHost"));
        assertEquals(loopback, now("a.localhost"));
        assertEquals(List.of(), asked.names);
    }

    @Test
    void namesInTheHostsFileAreNotLookedUp() {
        settings = settings(100, 100, List.of("192.0.2.5"));
        assertEquals(List.of("192.0.2.5"), now("File.Test"));
        assertEquals(List.of(), asked.names);
    }

    @Test
    void aHostIsAskedForOnceHoweverManyWait() {
        Future<List<InetAddress>> first = addresses.resolve("a.test");
        Future<List<InetAddress>> second = addresses.resolve("A.test");
        assertFalse(first.isDone());
        answer(0, "192.0.2.1");
        assertEquals(List.of("192.0.2.1"), texts(first));
        assertEquals(List.of("192.0.2.1"), texts(second));
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        assertEquals(List.of("a.test"), asked.names);
        assertEquals(2, addresses.statistics().answered());
        assertEquals(1, addresses.statistics().cached());
    }

    @Test
    void anAnswerIsGoodForItsTimeAndNoLonger() {
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS - 1);
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        passSeconds(1);
        int before = asked.names.size();
        Future<List<InetAddress>> found = addresses.resolve("a.test");
        assertFalse(found.isDone());
        answer(before - 1, "192.0.2.2");
        assertEquals(List.of("192.0.2.2"), texts(found));
    }

    @Test
    void aLookupInTheLastTenthOfTheTtlRefreshesInTheBackground() {
        known("a.test", "192.0.2.1");
        passSeconds(89);
        now("a.test");
        assertEquals(1, asked.names.size());
        passSeconds(1);
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        assertEquals(2, asked.names.size());
        answer(1, "192.0.2.2");
        passSeconds(TTL_SECONDS - 1);
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }

    @Test
    void rfc8767Section5_anOldAnswerServesWhileNobodyAnswersAndForHalfAMinuteNobodyWaits() {
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS);
        Future<List<InetAddress>> first = addresses.resolve("a.test");
        pass(HostAddresses.STALE_WAIT_MILLIS - 1);
        Future<List<InetAddress>> second = addresses.resolve("a.test");
        assertFalse(first.isDone());
        pass(1);
        assertEquals(List.of("192.0.2.1"), texts(first));
        assertEquals(List.of("192.0.2.1"), texts(second));
        fail(1);
        passSeconds(HostAddresses.RECHECK_SECONDS - 1);
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        assertEquals(2, asked.names.size());
        passSeconds(1);
        assertFalse(addresses.resolve("a.test").isDone());
        assertEquals(3, asked.names.size());
        assertEquals(3, addresses.statistics().stale());
        answer(2, "192.0.2.2");
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }

    @Test
    void aLateAnswerIsUsed() {
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS);
        Future<List<InetAddress>> late = addresses.resolve("a.test");
        pass(HostAddresses.STALE_WAIT_MILLIS);
        assertEquals(List.of("192.0.2.1"), texts(late));
        answer(1, "192.0.2.2");
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }

    @Test
    void rfc8767Section4_anAnswerIsNotUsedForEver() {
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS + STALE_SECONDS);
        Future<List<InetAddress>> found = addresses.resolve("a.test");
        pass(HostAddresses.STALE_WAIT_MILLIS);
        assertFalse(found.isDone());
        fail(1);
        assertInstanceOf(UnknownHostException.class, found.cause());
        assertEquals(1, addresses.statistics().failed());
    }

    @Test
    void anUnknownNameEndsAnOldAnswerAndIsKeptForAWhile() {
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS);
        Future<List<InetAddress>> found = addresses.resolve("a.test");
        refuse(1);
        assertInstanceOf(UnknownHostException.class, found.cause());
        passSeconds(NEGATIVE_SECONDS - 1);
        assertInstanceOf(UnknownHostException.class, addresses.resolve("a.test").cause());
        assertEquals(2, asked.names.size());
        passSeconds(1);
        assertFalse(addresses.resolve("a.test").isDone());
        assertEquals(2, addresses.statistics().unknown());
        answer(2, "192.0.2.1");
    }

    @Test
    void aFailureWithoutAnOldAnswerIsNotKept() {
        Future<List<InetAddress>> found = addresses.resolve("a.test");
        fail(0);
        assertInstanceOf(UnknownHostException.class, found.cause());
        Future<List<InetAddress>> again = addresses.resolve("a.test");
        answer(1, "192.0.2.1");
        assertEquals(List.of("192.0.2.1"), texts(again));
    }

    @Test
    void rfc8305Section4_familiesTakeTurnsAndEveryAddressIsFirstInItsTurn() {
        known("a.test", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "192.0.2.3");
        // The first lookup had the first turn of the rotation.
        assertEquals(List.of("192.0.2.2", "2001:db8::2", "192.0.2.3", "2001:db8::1", "192.0.2.1"), now("a.test"));
        assertEquals("192.0.2.3", now("a.test").get(0));
        assertEquals("192.0.2.1", now("a.test").get(0));
    }

    @Test
    void aFailedAddressIsLastUntilItWorksOrTimePasses() {
        known("a.test", "192.0.2.1", "192.0.2.2");
        InetAddress first = NetUtil.createInetAddressFromIpAddressString("192.0.2.1");
        addresses.failed("A.test", first);
        assertEquals(List.of("192.0.2.2", "192.0.2.1"), now("a.test"));
        assertEquals(List.of("192.0.2.2", "192.0.2.1"), now("a.test"));
        addresses.worked("a.test", first);
        assertTrue(List.of(now("a.test").get(0), now("a.test").get(0)).contains("192.0.2.1"));
        addresses.failed("a.test", first);
        passSeconds(60);
        assertTrue(List.of(now("a.test").get(0), now("a.test").get(0)).contains("192.0.2.1"));
    }

    @Test
    void aNewAnswerKeepsTheFailuresOfAddresses() {
        known("a.test", "192.0.2.1", "192.0.2.2");
        passSeconds(90);
        addresses.failed("a.test", NetUtil.createInetAddressFromIpAddressString("192.0.2.1"));
        now("a.test");
        answer(1, "192.0.2.1", "192.0.2.3");
        assertEquals("192.0.2.3", now("a.test").get(0));
        assertEquals("192.0.2.3", now("a.test").get(0));
    }

    @Test
    void hostsBeyondTheLimitAreForgottenTheLongestUnusedFirst() {
        settings = settings(2, 100, List.of());
        known("a.test", "192.0.2.1");
        known("b.test", "192.0.2.2");
        now("a.test");
        known("c.test", "192.0.2.3");
        now("a.test");
        now("c.test");
        assertEquals(List.of("a.test", "b.test", "c.test"), asked.names);
        addresses.resolve("b.test");
        assertEquals(List.of("a.test", "b.test", "c.test", "b.test"), asked.names);
        answer(3, "192.0.2.2");
    }

    @Test
    void queriesAtTheSameTimeAreLimitedAndTheNextGetsTheLimit() {
        settings = settings(100, 2, List.of());
        addresses.resolve("a.test");
        addresses.resolve("b.test");
        Future<List<InetAddress>> third = addresses.resolve("c.test");
        assertEquals(
                "c.test: too many DNS queries are in progress: actual=2, limit=2",
                third.cause().getMessage());
        answer(0, "192.0.2.1");
        addresses.resolve("c.test");
        answer(1, "192.0.2.2");
        answer(2, "192.0.2.3");
    }

    @Test
    void changedSettingsCauseNewQueriesAndEqualSettingsDoNot() {
        known("a.test", "192.0.2.1");
        settings = settings(100, 100, List.of());
        now("a.test");
        assertEquals(1, asked.names.size());
        settings = settings(99, 100, List.of());
        assertFalse(addresses.resolve("a.test").isDone());
        answer(1, "192.0.2.2");
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }

    @Test
    void anOldAnswerServesWhereMoreHostsAreAskedForThanMayBe() {
        settings = settings(100, 1, List.of());
        known("a.test", "192.0.2.1");
        passSeconds(TTL_SECONDS);
        addresses.resolve("b.test");
        assertEquals(List.of("192.0.2.1"), now("a.test"));
        assertEquals(1, addresses.statistics().stale());
        answer(1, "192.0.2.2");
        assertFalse(addresses.resolve("a.test").isDone());
        answer(2, "192.0.2.3");
        assertEquals(List.of("192.0.2.3"), now("a.test"));
    }

    @Test
    void anAnswerToAQueryOfOldSettingsIsOnlyForItsWaitingCallers() {
        Future<List<InetAddress>> before = addresses.resolve("a.test");
        settings = settings(99, 100, List.of());
        Future<List<InetAddress>> after = addresses.resolve("a.test");
        assertEquals(List.of("a.test", "a.test"), asked.names);
        answer(1, "192.0.2.2");
        answer(0, "192.0.2.1");
        assertEquals(List.of("192.0.2.1"), texts(before));
        assertEquals(List.of("192.0.2.2"), texts(after));
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }

    @Test
    void anAnswerAfterASettingsChangeIsNotKept() {
        Future<List<InetAddress>> before = addresses.resolve("a.test");
        settings = settings(99, 100, List.of());
        answer(0, "192.0.2.1");
        assertEquals(List.of("192.0.2.1"), texts(before));
        assertFalse(addresses.resolve("a.test").isDone());
        answer(1, "192.0.2.2");
        assertEquals(List.of("192.0.2.2"), now("a.test"));
    }
}
