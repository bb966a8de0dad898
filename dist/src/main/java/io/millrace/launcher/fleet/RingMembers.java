package io.millrace.launcher.fleet;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.origin.FleetMembers;
import io.millrace.proxy.origin.FleetMembers.Member;
import io.millrace.proxy.origin.FleetMembersFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines which nodes of the fleet are the hosts of origin groups with {@code hosts_from}. Passes these nodes to the
 * worker by a file. While this node is disconnected or has only just connected, it removes no other node, because it
 * may have missed the reports of live nodes. Confined to the thread of the fleet, except {@link #countsByTier}.
 */
final class RingMembers {
    /** Time without a report after which a node gets no more requests. Nodes send a report each second. */
    static final long LIVE_MILLIS = 4000;

    /** Interval at which the nodes are determined. */
    static final long STEP_MILLIS = 200;

    /** Limit of nodes per tier. If a tier has more, the first in the order of their names are used. */
    private static final int NODES_MAX = 256;

    private static final Logger LOG = LoggerFactory.getLogger(RingMembers.class);

    private final FleetMembersFile file;
    private final FleetState state;
    private final Map<String, Long> counts = new ConcurrentSkipListMap<>();
    /** The nodes of the latest round; before the first round, the nodes in the file. */
    private FleetMembers lastMembers;

    private String fleet = "";
    private boolean isWritten;
    /** The worker that has read the file since its last change; empty for none. */
    private String reader = "";

    private long steppedAt = Long.MIN_VALUE / 2;

    RingMembers(FleetMembersFile file, FleetState state) {
        this.file = file;
        this.state = state;
        lastMembers = FleetMembers.NONE;
    }

    /**
     * Begins to work with the settings of a fleet. Keeps the nodes in the file if a fleet with the same name wrote
     * them.
     */
    void begin(FleetConfig settings) {
        if (fleet.isEmpty()) {
            lastMembers = file.read(settings.name());
        } else if (!fleet.equals(settings.name())) {
            lastMembers = FleetMembers.NONE;
        }
        fleet = settings.name();
        isWritten = false;
        steppedAt = Long.MIN_VALUE / 2;
    }

    /** Executes one round. */
    void step(FleetConfig settings, WorkerPurges worker) throws InterruptedException {
        long now = state.nowMillis();
        if (now - steppedAt < STEP_MILLIS) {
            return;
        }
        steppedAt = now;
        FleetMembers next = state.isConnected() ? members(settings, now) : lastMembers;
        String target = worker.target();
        if (next.equals(lastMembers) && isWritten && target.equals(reader)) {
            return;
        }
        try {
            if (!next.equals(lastMembers) || !isWritten) {
                file.write(settings.name(), next);
                if (!next.equals(lastMembers)) {
                    log(settings, next);
                }
                lastMembers = next;
                isWritten = true;
                reader = "";
                count(next);
            }
            if (!target.isEmpty()) {
                worker.reloadMembers();
                reader = target;
            }
        } catch (IOException e) {
            LOG.debug(
                    "fleet {}: the nodes cannot be written or passed to the worker; the next round tries again",
                    settings.name(),
                    e);
        }
    }

    private static void log(FleetConfig settings, FleetMembers next) {
        List<String> nodes = next.all().stream().map(Member::node).toList();
        LOG.info("fleet {}: nodes that take requests: {}", settings.name(), nodes);
    }

    private FleetMembers members(FleetConfig settings, long now) {
        Map<String, Member> members = new TreeMap<>();
        if (!state.areMembersKnown()) {
            lastMembers.all().forEach(member -> members.put(member.node(), member));
        }
        for (NodeTable.Heard heard : state.nodes.all()) {
            NodeReport report = heard.report();
            boolean isLive = !report.leaving() && now - heard.atMillis() < LIVE_MILLIS;
            if (!report.address().isEmpty() && isLive) {
                members.put(report.node(), member(report, report.node().equals(settings.node())));
            } else if (isLive || report.leaving()) {
                members.remove(report.node());
            }
        }
        return limited(members.values());
    }

    private static Member member(NodeReport report, boolean isSelf) {
        try {
            return new Member(report.node(), report.tier(), RuleUrl.parseOrigin(report.address()), isSelf);
        } catch (InvalidValueException e) {
            // The report was checked when it was received.
            throw new IllegalStateException(e);
        }
    }

    private static FleetMembers limited(Iterable<Member> members) {
        List<Member> all = new ArrayList<>();
        members.forEach(all::add);
        all.sort(Comparator.comparing(Member::node));
        Map<String, Integer> ofTier = new HashMap<>();
        all.removeIf(member -> ofTier.merge(member.tier(), 1, Integer::sum) > NODES_MAX);
        return new FleetMembers(all);
    }

    private void count(FleetMembers present) {
        Map<String, Long> next = new TreeMap<>();
        present.all().forEach(member -> next.merge(member.tier(), 1L, Long::sum));
        counts.keySet().forEach(tier -> next.putIfAbsent(tier, 0L));
        counts.putAll(next);
    }

    /** Returns the number of nodes that take requests, for each tier. Thread-safe. */
    Map<String, Long> countsByTier() {
        return counts;
    }
}
