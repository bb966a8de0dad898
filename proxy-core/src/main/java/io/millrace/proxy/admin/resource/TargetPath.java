package io.millrace.proxy.admin.resource;

import io.netty.handler.codec.http.QueryStringDecoder;

/**
 * Extracts the path of a request target. Routing and all access checks use these methods. Otherwise another
 * spelling of a path could pass a check and still reach the resource.
 */
public final class TargetPath {
    private TargetPath() {}

    /** Returns the path as received: without the query and without a fragment, which some clients send. */
    public static String received(String target) {
        int end = 0;
        while (end < target.length() && target.charAt(end) != '?' && target.charAt(end) != '#') {
            end++;
        }
        return target.substring(0, end);
    }

    /**
     * Returns the path with its percent-encodings decoded once. A path with an invalid encoding is returned as
     * received, and matches no resource.
     */
    public static String decoded(String target) {
        try {
            return new QueryStringDecoder(target).path();
        } catch (IllegalArgumentException e) {
            return received(target);
        }
    }
}
