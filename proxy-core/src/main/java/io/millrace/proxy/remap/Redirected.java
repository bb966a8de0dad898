package io.millrace.proxy.remap;

import io.millrace.proxy.http.TargetUri;

/**
 * The result for a URL that a remap rule redirects. There is one object per rule, so values that depend on the
 * request have a parameter for the URL. Immutable.
 *
 * @param rule the rule that redirects
 */
public record Redirected(RemapRule rule) implements RemapResult {
    /** The reason for logs: {@code redirect:remap[3]}. */
    public String reason() {
        return rule.redirectReason();
    }

    /**
     * Returns the status of the response. This is the configured status, or 301 for permanent and 307 for
     * temporary redirects. HTTP/1.0 clients receive 302 instead of 307, which they do not know.
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
     * Returns the redirect URL. The rule's target URL replaces the matched part; the rest of the client's path
     * and query follows. Bytes that URLs do not allow are percent-encoded.
     */
    public String location(TargetUri target) {
        return rule.urlOf(target);
    }
}
