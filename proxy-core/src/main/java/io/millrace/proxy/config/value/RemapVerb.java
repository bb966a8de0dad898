package io.millrace.proxy.config.value;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The kinds of remap rules, by the words that Traffic Server has for them. */
public enum RemapVerb {
    /** The URL is an origin's. */
    MAP(Group.FORWARD, false),
    /** The host, as an expression, is an origin's. */
    REGEX_MAP(Group.FORWARD, true),
    /** As {@link #MAP}, for requests that arrived on the port. */
    MAP_WITH_RECV_PORT(Group.RECEIVED_PORT, false),
    /** As {@link #REGEX_MAP}, for requests that arrived on the port. */
    REGEX_MAP_WITH_RECV_PORT(Group.RECEIVED_PORT, true),
    /** As {@link #MAP}, for requests that some pages link to. */
    MAP_WITH_REFERER(Group.FORWARD, false),
    /** What an origin's answers say of its URLs is said of clients' URLs. */
    REVERSE_MAP(Group.REVERSE, false),
    /** The client is sent elsewhere for good. */
    REDIRECT(Group.REDIRECT, false),
    /** The client is sent elsewhere this time. */
    REDIRECT_TEMPORARY(Group.REDIRECT, false),
    /** As {@link #REDIRECT}, the host being an expression. */
    REGEX_REDIRECT(Group.REGEX_REDIRECT, true),
    /** As {@link #REDIRECT_TEMPORARY}, the host being an expression. */
    REGEX_REDIRECT_TEMPORARY(Group.REGEX_REDIRECT, true);

    /** Rules that are looked at together; a group is looked at when none before it has a rule for the request. */
    public enum Group {
        /** By the port that the request arrived on. */
        RECEIVED_PORT,
        /** By the URL of a request that asks for WebSocket. */
        WEBSOCKET,
        /** By the request's URL. */
        FORWARD,
        /** Redirections. */
        REDIRECT,
        /** Redirections by an expression. */
        REGEX_REDIRECT,
        /** Rules for answers, not for requests. */
        REVERSE
    }

    private static final List<RemapVerb> ALL = List.of(values());

    private final Group group;
    private final boolean regex;

    RemapVerb(Group group, boolean regex) {
        this.group = group;
        this.regex = regex;
    }

    /** Every kind, in the order of the reference page. */
    public static List<RemapVerb> all() {
        return ALL;
    }

    /** Which rules it stands with, but for WebSocket's; {@code RemapRuleConfig#group} says it of a rule. */
    public Group group() {
        return group;
    }

    /** Whether the host is an expression. */
    public boolean isRegex() {
        return regex;
    }

    /** Whether requests that match go to an origin. */
    public boolean isForward() {
        return group == Group.FORWARD || group == Group.RECEIVED_PORT;
    }

    /** Whether requests that match are sent elsewhere. */
    public boolean isRedirect() {
        return group == Group.REDIRECT || group == Group.REGEX_REDIRECT;
    }

    /** The statuses that may be asked for, the usual one first; none for rules that do not redirect. */
    public List<Integer> statuses() {
        return switch (this) {
            case REDIRECT, REGEX_REDIRECT -> List.of(301, 308);
            case REDIRECT_TEMPORARY, REGEX_REDIRECT_TEMPORARY -> List.of(307, 302);
            default -> List.of();
        };
    }

    /** As the configuration writes it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** All of them, for messages. */
    public static String words() {
        return String.join(", ", Arrays.stream(values()).map(RemapVerb::word).toList());
    }
}
