package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetSource;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state of the fleet membership for the admin API. Thread-safe. */
final class FleetView implements FleetSource {
    /** Why a node that starts is not connected. */
    static final String STARTING = "the node starts, and connects when its worker serves";

    private final FleetState state;

    FleetView(FleetState state) {
        this.state = state;
    }

    @Override
    public Status status() {
        FleetConfig settings = state.configured();
        if (settings == null) {
            return new Status("", "", "", "off", "", "", "", 0, 0, 0, List.of());
        }
        long now = state.nowMillis();
        List<Node> nodes = new ArrayList<>();
        for (NodeTable.Heard heard : state.nodes.all()) {
            nodes.add(node(heard, now));
        }
        return new Status(
                settings.name(),
                settings.node(),
                settings.tier(),
                statusWord(),
                problem(state, settings),
                settings.onGap().name().toLowerCase(Locale.ROOT),
                state.created(),
                state.figures.newest.get(),
                state.figures.lastApplied.get(),
                state.figures.outboxBytes.get(),
                nodes);
    }

    private String statusWord() {
        if (state.isStarting()) {
            return "starting";
        }
        if (state.isRefused()) {
            return "refused";
        }
        return state.isConnected() ? "connected" : "disconnected";
    }

    /** Returns why the node is not connected, or the permissions that it lacks; empty for none. */
    static String problem(FleetState state, FleetConfig settings) {
        if (state.isStarting()) {
            return STARTING;
        }
        return state.problem().isEmpty() && !state.isConnected()
                ? "connecting to " + servers(settings)
                : state.problem();
    }

    /** Returns the URLs of the servers without the passwords in them. */
    static String servers(FleetConfig settings) {
        return String.join(", ", settings.servers()).replaceAll("//[^/@, ]*@", "//");
    }

    private Node node(NodeTable.Heard heard, long now) {
        NodeReport report = heard.report();
        boolean isSameStream = report.created().equals(state.created());
        return new Node(
                report.node(),
                report.tier(),
                report.version(),
                report.leaving() ? "left" : heard.isLive(now) ? "live" : "away",
                report.applied(),
                isSameStream ? Math.max(0, state.figures.newest.get() - report.applied()) : -1,
                Math.max(0, now - heard.atMillis()) / 1000,
                report.refused(),
                report.config().revision());
    }

    @Override
    public @Nullable Spread spread(String purgeId) {
        FleetConfig settings = state.configured();
        if (settings == null) {
            return null;
        }
        OwnPurges.Place place = state.ownPurges.find(purgeId);
        if (place == null) {
            return unplaced(settings);
        }
        NodeTable.PurgeProgress spread = state.nodes.spread(place.created(), place.sequence(), state.nowMillis());
        String note = "";
        if (!state.isConnected()) {
            note = "the nodes are those of the time before the connection was lost: " + problem(state, settings);
        } else if (!state.areMembersKnown()) {
            note = "the nodes of the fleet are not known yet";
        } else if (spread.isComplete() && !state.isVerifiedAfter(place.appliedEverywhere(state.nowMillis()))) {
            // All live nodes have applied a message with the number of the purge. If the servers have lost the purge,
            // this may be another message with the same number, until the next check of the stream.
            note = "the stream is being compared with the purge";
            state.wantCheck();
        }
        return new Spread(
                note.isEmpty() && spread.isComplete(),
                place.sequence(),
                note,
                spread.applied(),
                spread.missing(),
                spread.away());
    }

    /** Returns the state of a purge that is not published, or whose number in the stream is no longer known. */
    private Spread unplaced(FleetConfig settings) {
        String problem = problem(state, settings);
        boolean isWaiting = !problem.isEmpty();
        String note = isWaiting
                ? "the purge waits in the outbox: " + problem
                : "the purge is not published yet, or is not among the latest " + OwnPurges.MAX
                        + " purges since the launcher of this node started";
        if (!isWaiting && state.figures.outboxBytes.get() == 0) {
            // The outbox is empty, so the purge is published, and the other nodes may have applied it.
            return new Spread(false, 0, note, List.of(), Map.of(), Map.of());
        }
        NodeTable.PurgeProgress others = state.nodes.unpublished(settings.node(), state.nowMillis());
        boolean isKnown = !others.missing().isEmpty() || !others.away().isEmpty();
        if (!isKnown && !state.isConnected()) {
            note += "; the other nodes are unknown, because none was heard since the start of this node";
        }
        return new Spread(false, 0, note, List.of(), others.missing(), others.away());
    }
}
