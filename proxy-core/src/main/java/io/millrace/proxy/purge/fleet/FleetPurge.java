package io.millrace.proxy.purge.fleet;

import java.util.List;
import java.util.Locale;

/**
 * A purge that the nodes of a fleet share, or another action, such as the undo of a purge. Each node applies it with
 * its own remap rules. Immutable.
 *
 * @param action the kind of the purge's scope, or the other action
 * @param targets URLs, one URL prefix, one host, host and name of a group, tags, one expression, the shared
 *     identifier of another purge, or the number of a message; empty for everything
 * @param sites sites of tags in lower case; empty for every site and for other actions
 * @param soft whether responses may be used again after validation
 */
public record FleetPurge(Action action, List<String> targets, List<String> sites, boolean soft) {
    /** The kinds of purges, and the other actions. */
    public enum Action {
        /** Single URLs. */
        URL,
        /** All URLs that begin with the given URL. */
        PREFIX,
        /** All of a host, with its port if that is not the default. */
        HOST,
        /** A cache group of a host (RFC 9875). */
        GROUP,
        /** Responses with one of the tags. */
        TAG,
        /** Responses for which an expression holds. */
        PATTERN,
        /** Everything. */
        ALL,
        /** The undo of a soft purge. */
        UNDO,
        /** The cancellation of a purge by pattern. */
        CANCEL,
        /**
         * The stream may have lost messages, so any response may be outdated. The target is the number of the last
         * message when the sender detected the loss.
         */
        LOST,
        /**
         * No purge. A node sends it when the last message is old: after that message expires, the stream still has a
         * message with which nodes can compare their positions.
         */
        MARK;

        /** Returns the name in messages. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Returns true if a message with this number of targets is complete. */
        boolean permits(int targets) {
            return switch (this) {
                case URL, TAG -> targets >= 1;
                case PREFIX, HOST, PATTERN, UNDO, CANCEL, LOST -> targets == 1;
                case GROUP -> targets == 2;
                case ALL, MARK -> targets == 0;
            };
        }
    }

    /** Copies the lists. */
    public FleetPurge {
        targets = List.copyOf(targets);
        sites = List.copyOf(sites);
    }

    /** Creates a purge without sites. */
    public static FleetPurge of(Action action, List<String> targets, boolean soft) {
        return new FleetPurge(action, targets, List.of(), soft);
    }

    /** Creates the undo or cancellation of a purge by its shared identifier. */
    public static FleetPurge change(Action action, String sharedId) {
        return new FleetPurge(action, List.of(sharedId), List.of(), false);
    }
}
