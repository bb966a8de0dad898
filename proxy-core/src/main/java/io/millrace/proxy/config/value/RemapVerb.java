package io.millrace.proxy.config.value;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The kind of a remap rule, with the name that Traffic Server uses. */
public enum RemapVerb {
    /** Maps a URL to an origin. */
    MAP(Group.FORWARD, false),
    /** Maps all hosts that a regular expression matches to an origin. */
    REGEX_MAP(Group.FORWARD, true),
    /** Like {@link #MAP}, for requests that arrived on the port in the rule's URL. */
    MAP_WITH_RECV_PORT(Group.RECEIVED_PORT, false),
    /** Like {@link #REGEX_MAP}, for requests that arrived on the port in the rule's URL. */
    REGEX_MAP_WITH_RECV_PORT(Group.RECEIVED_PORT, true),
    /** Like {@link #MAP}, for requests whose Referer is allowed. */
    MAP_WITH_REFERER(Group.FORWARD, false),
    /** Replaces the origin's URLs in responses by the URLs for clients. */
    REVERSE_MAP(Group.REVERSE, false),
    /** Redirects the client permanently. */
    REDIRECT(Group.REDIRECT, false),
    /** Redirects the client temporarily. */
    REDIRECT_TEMPORARY(Group.REDIRECT, false),
    /** Like {@link #REDIRECT}, with a regular expression as the host. */
    REGEX_REDIRECT(Group.REGEX_REDIRECT, true),
    /** Like {@link #REDIRECT_TEMPORARY}, with a regular expression as the host. */
    REGEX_REDIRECT_TEMPORARY(Group.REGEX_REDIRECT, true);

    /**
     * Rules that are searched together. The groups are searched in this order until one has a rule for the request.
     * Only requests for WebSocket use {@link #WEBSOCKET}, and search it first.
     */
    public enum Group {
        /** Rules for the port on which the request arrived. */
        RECEIVED_PORT,
        /** Rules for URLs of WebSocket requests. */
        WEBSOCKET,
        /** Rules for URLs of all other requests. */
        FORWARD,
        /** Redirects. */
        REDIRECT,
        /** Redirects with a regular expression as the host. */
        REGEX_REDIRECT,
        /** Rules for responses instead of requests. */
        REVERSE
    }

    private static final List<RemapVerb> ALL = List.of(values());

    private final Group group;
    private final boolean regex;

    RemapVerb(Group group, boolean regex) {
        this.group = group;
        this.regex = regex;
    }

    /** Returns every kind, in the order of the configuration reference. */
    public static List<RemapVerb> all() {
        return ALL;
    }

    /**
     * The group of the rules of this kind. It does not apply to rules with a WebSocket URL; {@code
     * RemapRuleConfig#group} returns the group of a single rule.
     */
    public Group group() {
        return group;
    }

    /** Returns true if the host is a regular expression. */
    public boolean isRegex() {
        return regex;
    }

    /** Returns true if matching requests are sent to an origin. */
    public boolean isForward() {
        return group == Group.FORWARD || group == Group.RECEIVED_PORT;
    }

    /** Returns true if matching requests are redirected. */
    public boolean isRedirect() {
        return group == Group.REDIRECT || group == Group.REGEX_REDIRECT;
    }

    /** The status codes that a rule may set, the default first. Empty for rules that do not redirect. */
    public List<Integer> statuses() {
        return switch (this) {
            case REDIRECT, REGEX_REDIRECT -> List.of(301, 308);
            case REDIRECT_TEMPORARY, REGEX_REDIRECT_TEMPORARY -> List.of(307, 302);
            default -> List.of();
        };
    }

    /** The name in the configuration. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Names of all kinds, for messages. */
    public static String words() {
        return String.join(", ", Arrays.stream(values()).map(RemapVerb::word).toList());
    }
}
