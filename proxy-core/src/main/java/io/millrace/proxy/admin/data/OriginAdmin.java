package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.origin.OriginControl;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.origin.FleetMembers;
import io.millrace.proxy.origin.FleetMembersFile;
import io.millrace.proxy.origin.HostHistory;
import io.millrace.proxy.origin.HostLoad;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.proxy.origin.OriginHealth;
import io.millrace.proxy.origin.OriginHost;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The groups of origins of a proxy for the admin API. Thread-safe. */
public final class OriginAdmin implements OriginControl {
    private static final Logger log = LoggerFactory.getLogger(OriginAdmin.class);

    private final OriginGroups groups;
    private final WallClock clock;
    private final @Nullable OriginMarks marks;
    private final ReentrantLock writeLock = new ReentrantLock();
    private final @Nullable FleetMembersFile members;
    private final Runnable onMembersChanged;

    /** @param marks the file of hosts that operators have marked down; null for none */
    public OriginAdmin(OriginGroups groups, WallClock clock, @Nullable OriginMarks marks) {
        this(groups, clock, marks, null, () -> {});
    }

    /**
     * @param marks the file of hosts that operators have marked down; null for none
     * @param members the file of the fleet's nodes; null for none
     * @param onMembersChanged called after a changed list of nodes has come into force
     */
    public OriginAdmin(
            OriginGroups groups,
            WallClock clock,
            @Nullable OriginMarks marks,
            @Nullable FleetMembersFile members,
            Runnable onMembersChanged) {
        this.groups = groups;
        this.clock = clock;
        this.marks = marks;
        this.members = members;
        this.onMembersChanged = onMembersChanged;
    }

    /** Reads the nodes of the fleet, and puts them in force. Blocks. Returns their number. */
    int readMembers() {
        FleetMembersFile file = members;
        FleetMembers read = file == null ? FleetMembers.NONE : file.read();
        if (groups.members(read, clock.millis())) {
            onMembersChanged.run();
            groupsChanged();
        }
        return read.all().size();
    }

    @Override
    public long nowSeconds() {
        return TimeUnit.MILLISECONDS.toSeconds(clock.millis());
    }

    @Override
    public List<Host> hosts() {
        return report((group, host) -> true);
    }

    @Override
    public List<EmptyGroup> emptyGroups() {
        List<EmptyGroup> empty = new ArrayList<>();
        for (OriginGroup group : groups.all()) {
            String tier = group.config().fleetTier();
            if (group.hosts().isEmpty() && tier != null) {
                empty.add(new EmptyGroup(group.name(), policy(group), tier));
            }
        }
        return empty;
    }

    private static String policy(OriginGroup group) {
        return group.config().policy().name().toLowerCase(Locale.ROOT);
    }

    @Override
    public CompletionStage<List<Host>> down(String origin, String reason, long seconds) {
        long now = clock.millis();
        long until = seconds == 0 ? Long.MAX_VALUE : now + TimeUnit.SECONDS.toMillis(seconds);
        OriginHealth.ManualDown mark =
                new OriginHealth.ManualDown(reason.isEmpty() ? "no reason given" : reason, now, until);
        return change(origin, host -> host.markDown(mark, now));
    }

    @Override
    public CompletionStage<List<Host>> up(String origin) {
        long now = clock.millis();
        return change(origin, host -> host.markUp(now));
    }

    private CompletionStage<List<Host>> change(String origin, Consumer<OriginHost> change) {
        boolean found = false;
        for (OriginGroup group : groups.all()) {
            for (OriginHost host : group.hosts()) {
                if (matches(origin, group, host)) {
                    change.accept(host);
                    found = true;
                }
            }
        }
        if (!found) {
            return CompletableFuture.failedFuture(unknown(origin));
        }
        return write().thenApply(written -> report((group, host) -> matches(origin, group, host)));
    }

    /** Writes the file of marked-down hosts again after a reload, because groups may have other names. */
    public void groupsChanged() {
        write().whenComplete((written, failure) -> {
            if (failure != null) {
                log.warn(
                        "the hosts that operators marked down cannot be stored with the groups of this configuration",
                        failure);
            }
        });
    }

    /** Writes the file of marked-down hosts later, on a thread that may block. */
    private CompletionStage<@Nullable Void> write() {
        OriginMarks file = marks;
        if (file == null) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.runAsync(() -> {
            writeLock.lock();
            try {
                file.write(groups.all(), clock.millis());
            } catch (IOException e) {
                throw new CompletionException(new AdminException(
                        500,
                        "origin-not-durable",
                        "in force in this worker, but the next worker will not have the change: " + e.getMessage()));
            } finally {
                writeLock.unlock();
            }
        });
    }

    private static boolean matches(String origin, OriginGroup group, OriginHost host) {
        String prefix = group.name() + "/";
        String named = origin.startsWith(prefix) ? origin.substring(prefix.length()) : origin;
        String url = host.toString();
        return origin.equals(group.name())
                || named.equals(url)
                || named.equals(url.substring(url.indexOf("://") + "://".length()))
                || named.equals(host.origin().authority());
    }

    private AdminException unknown(String origin) {
        List<String> configured = new ArrayList<>();
        for (OriginGroup group : groups.all()) {
            group.hosts()
                    .forEach(host ->
                            configured.add(group.name() + "/" + host.origin().authority()));
        }
        return new AdminException(
                400,
                "unknown-origin",
                origin + " is not a group of origins or a host of a group; configured hosts: " + configured);
    }

    /** Selects the hosts of an answer. */
    private interface Choice {
        boolean includes(OriginGroup group, OriginHost host);
    }

    private List<Host> report(Choice choice) {
        List<Host> hosts = new ArrayList<>();
        for (OriginGroup group : groups.all()) {
            for (int i = 0; i < group.hosts().size(); i++) {
                if (choice.includes(group, group.hosts().get(i))) {
                    hosts.add(report(group, i, clock.millis()));
                }
            }
        }
        return hosts;
    }

    private static Host report(OriginGroup group, int index, long nowMillis) {
        OriginHost host = group.hosts().get(index);
        OriginGroupConfig.Host config = group.config().hosts().get(index);
        OriginHealth health = host.health();
        OriginHealth.ManualDown manualDown = health.isManuallyDown(nowMillis) ? health.manualDown() : null;
        boolean up = health.state() == OriginHealth.State.UP;
        long until = manualDown != null ? manualDown.until() : up ? 0 : health.retryAt();
        String reason = manualDown != null ? manualDown.reason() : health.reason();
        int underWay = 0;
        long requests = 0;
        long failures = 0;
        for (HostLoad load : host.loads()) {
            underWay += load.underWay();
            requests += load.requests();
            failures += load.failures();
        }
        HostHistory history = host.history();
        return new Host(
                group.name(),
                policy(group),
                host.toString(),
                config.weight(),
                config.backup(),
                group.isSelf(index),
                manualDown != null ? "put_down" : health.state().name().toLowerCase(Locale.ROOT),
                TimeUnit.MILLISECONDS.toSeconds(manualDown != null ? manualDown.since() : health.since()),
                until == Long.MAX_VALUE ? 0 : TimeUnit.MILLISECONDS.toSeconds(until),
                reason.isEmpty() ? null : reason,
                health.failures(),
                underWay,
                requests,
                failures,
                Math.max(0, history.requests() - requests),
                Math.max(0, history.failures() - failures),
                versionText(history.version()),
                TimeUnit.MILLISECONDS.toSeconds(history.answeredMillis()),
                TimeUnit.MILLISECONDS.toSeconds(history.failedMillis()),
                TimeUnit.NANOSECONDS.toMicros(latencyNanos(host)));
    }

    /** Returns the mean latency over all event loops, weighted by their requests. */
    public static long latencyNanos(OriginHost host) {
        double sum = 0;
        long requests = 0;
        for (HostLoad load : host.loads()) {
            sum += (double) load.latencyNanos() * load.requests();
            requests += load.requests();
        }
        return requests == 0 ? 0 : (long) (sum / requests);
    }

    private static @Nullable String versionText(int version) {
        return switch (version) {
            case 0 -> "1.0";
            case 1 -> "1.1";
            case 2 -> "2.0";
            default -> null;
        };
    }
}
