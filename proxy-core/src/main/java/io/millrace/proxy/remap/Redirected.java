package io.millrace.proxy.remap;

import io.millrace.proxy.http.TargetUri;

/**
 * Clients are sent elsewhere. There is one instance for each rule; what depends on the request is asked for with its target.
 * Immutable.
 *
 * @param rule the rule that says so
 */
public record Redirected(RemapRule rule) implements RemapResult {
    /** For logs: {@code redirect:remap[3]}. */
    public String reason() {
        return rule.redirectReason();
    }

    /**
     * The status of the answer: the rule's own, else 301 for good, and this time 307, which HTTP/1.0 does not know.
     *
     * @param minorVersion of the client's HTTP/1
     */
    public int status(int minorVersion) {
        if (rule.config().status() != 0) {
            return rule.config().status();
        }
        return switch (rule.config().verb()) {
            case REDIRECT, REGEX_REDIRECT -> 301;
            default -> minorVersion == 0 ? 302 : 307;
        };
    }

    /**
     * Where to: the rule's URL in place of what it matched, the rest of the path and the query as the client sent them. Bytes
     * that no URL has are percent-encoded.
     */
    public String location(TargetUri target) {
        return rule.urlOf(target);
    }
}
