package io.millrace.proxy.remap;

import io.millrace.proxy.http.TargetUri;

/**
 * The result for a URL that a rule redirects. There is one instance per rule. Methods for request-dependent values take
 * the target. Immutable.
 *
 * @param rule the rule that redirects
 */
public record Redirected(RemapRule rule) implements RemapResult {
    /** The reason for logs: {@code redirect:remap[3]}. */
    public String reason() {
        return rule.redirectReason();
    }

    /**
     * Returns the status of the response: the rule's own, else 301 for permanent redirects and 307 for temporary ones.
     * HTTP/1.0, which has no 307, gets 302.
     *
     * @param minorVersion minor version of the client's HTTP/1
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
     * Returns the redirect URL: the rule's URL in place of the matched part, then the rest of the client's path and
     * query. Bytes not allowed in URLs are percent-encoded.
     */
    public String location(TargetUri target) {
        return rule.urlOf(target);
    }
}
