package io.millrace.proxy.admin.resource;

import io.netty.handler.codec.http.QueryStringDecoder;

/**
 * The path of a request target. Routes, rights and checks use this one form, so that no spelling of a path passes a
 * check and still reaches the resource.
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
     * Returns the path with its escapes decoded once; as received if an escape is invalid, which no resource's path is.
     */
    public static String decoded(String target) {
        try {
            return new QueryStringDecoder(target).path();
        } catch (IllegalArgumentException e) {
            return received(target);
        }
    }
}
