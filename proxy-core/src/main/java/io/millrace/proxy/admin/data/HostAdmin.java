package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.origin.HostControl;
import io.millrace.proxy.dns.HostAddresses;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.origin.HostDatabase;
import io.millrace.proxy.server.ServingLoop;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The single-host origins (not in a group) and the cached addresses of all event loops, for the admin API. Each event
 * loop has its own cache of addresses. Thread-safe.
 */
final class HostAdmin implements HostControl {
    /** Limit of the origins in a report, and separately of the host names. */
    private static final int REPORTED_MAX = 1000;

    private final HostDatabase hosts;
    private final List<ServingLoop> loops;
    private final WallClock clock;

    HostAdmin(HostDatabase hosts, List<ServingLoop> loops, WallClock clock) {
        this.hosts = hosts;
        this.loops = loops;
        this.clock = clock;
    }

    @Override
    public CompletionStage<Report> report(@Nullable String host) {
        return onEveryLoop(loop -> loop.origins().knownHosts()).thenApply(known -> report(host, known));
    }

    @Override
    public CompletionStage<Cleared> clear(@Nullable String host) {
        int origins = hosts.clear(host);
        return onEveryLoop(loop -> {
                    Set<String> names = new HashSet<>();
                    loop.origins().knownHosts().stream()
                            .map(HostAddresses.Known::name)
                            .filter(name -> host == null || name.equals(host))
                            .forEach(names::add);
                    loop.origins().forgetHosts(host);
                    return names;
                })
                .thenApply(cleared -> {
                    Set<String> names = new HashSet<>();
                    cleared.forEach(names::addAll);
                    return new Cleared(origins, names.size());
                });
    }

    /** Calls a function on each event loop, and completes with all results. */
    private <T> CompletionStage<List<T>> onEveryLoop(Function<ServingLoop, T> action) {
        CompletionStage<List<T>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (ServingLoop loop : loops) {
            CompletionStage<T> one = CompletableFuture.supplyAsync(() -> action.apply(loop), loop.loop());
            all = all.thenCombine(one, (list, result) -> {
                list.add(result);
                return list;
            });
        }
        return all;
    }

    private Report report(@Nullable String host, List<List<HostAddresses.Known>> known) {
        long nowMillis = clock.millis();
        List<Origin> origins = hosts.all().stream()
                .filter(each -> host == null || each.origin().host().equals(host))
                .map(HostAdmin::origin)
                .toList();
        Map<String, HostAddresses.Known> byName = new TreeMap<>();
        known.forEach(loop -> loop.stream()
                .filter(each -> host == null || each.name().equals(host))
                .forEach(each -> byName.merge(each.name(), each, HostAdmin::merge)));
        List<Name> names =
                byName.values().stream().map(each -> name(each, nowMillis)).toList();
        return new Report(
                seconds(nowMillis),
                origins.subList(0, Math.min(REPORTED_MAX, origins.size())),
                names.subList(0, Math.min(REPORTED_MAX, names.size())),
                Math.max(0, origins.size() - REPORTED_MAX) + Math.max(0, names.size() - REPORTED_MAX));
    }

    private static Origin origin(HostDatabase.Report report) {
        HostDatabase.State state = report.state();
        return new Origin(
                report.origin().toString(),
                report.origin().host(),
                state.isDown(),
                seconds(state.downSince()),
                seconds(state.retryAt()),
                state.reason().isEmpty() ? null : state.reason(),
                state.failures(),
                switch (report.version()) {
                    case 0 -> "1.0";
                    case 1 -> "1.1";
                    case 2 -> "2.0";
                    default -> null;
                },
                seconds(report.answeredMillis()),
                seconds(state.failedMillis()));
    }

    /**
     * Returns the newer of two cached answers for a name. An address that failed on one of the event loops counts as
     * failed in the result, for the longer of the two times.
     */
    private static HostAddresses.Known merge(HostAddresses.Known one, HostAddresses.Known other) {
        HostAddresses.Known newer = one.freshMillis() >= other.freshMillis() ? one : other;
        Map<InetAddress, Long> addresses = new LinkedHashMap<>(newer.addresses());
        addresses.replaceAll((address, until) -> Math.max(
                one.addresses().getOrDefault(address, 0L), other.addresses().getOrDefault(address, 0L)));
        return new HostAddresses.Known(newer.name(), addresses, newer.freshMillis(), newer.negativeCause());
    }

    private static Name name(HostAddresses.Known known, long nowMillis) {
        List<Address> addresses = new ArrayList<>();
        known.addresses()
                .forEach((address, remainingMillis) -> addresses.add(new Address(
                        NetUtil.toAddressString(address),
                        remainingMillis == 0 ? 0 : seconds(nowMillis + remainingMillis))));
        return new Name(known.name(), seconds(nowMillis + known.freshMillis()), known.negativeCause(), addresses);
    }

    private static long seconds(long millis) {
        return TimeUnit.MILLISECONDS.toSeconds(millis);
    }
}
