package io.millrace.proxy.config.rules;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.FieldEdits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule of {@code rules} or {@code remap[].rules} in compiled form. Immutable.
 *
 * @param name path of the rule: {@code rules[2]} or {@code remap[1].rules[0]}
 * @param place file position, such as {@code millrace.yaml:12:5}; null for a rule set in code
 * @param when the condition; null if the rule applies to every request
 * @param requestEdits changes of the fields sent to the origin; null for none
 * @param responseEdits changes of the fields sent to the client; null for none
 * @param storedEdits changes of the fields of the origin's response before it is stored; null for none
 * @param rewrite the URL for the origin; null for none
 * @param redirect the redirection; null for none
 * @param answer the response of this proxy; null for none
 * @param bypass whether the cache is not used
 * @param lifetime the lifetime of responses, as a cache rule; null for none
 * @param actions names of the actions, for {@code explain}
 */
public record RuleConfig(
        String name,
        @Nullable String place,
        @Nullable Expression<RequestFacts> when,
        @Nullable FieldEdits requestEdits,
        @Nullable FieldEdits responseEdits,
        @Nullable FieldEdits storedEdits,
        @Nullable Rewrite rewrite,
        @Nullable Redirect redirect,
        @Nullable Answer answer,
        boolean bypass,
        @Nullable CacheRuleConfig lifetime,
        List<String> actions) {
    /** Limit of rules that apply to one request: those of {@code rules} and of its remap rule. */
    public static final int RULES_MAX = 100;

    /** Limit of bytes of the fields that these rules add. */
    public static final int ADDED_BYTES_MAX = 16 * 1024;

    /**
     * A rewrite of the URL for the origin.
     *
     * @param path the path; null to keep the path that the remap rule produces
     * @param query the query; null to keep the client's
     * @param groups as in {@link Redirect}
     */
    public record Rewrite(
            @Nullable RedirectTarget path,
            @Nullable RedirectTarget query,
            @Nullable Pattern groups) {
        /**
         * Returns the path for a request for which the condition holds; null to keep the path that the remap rule
         * produces.
         */
        public @Nullable String path(RequestFacts facts) {
            return path == null ? null : path.expand(facts, match(groups, facts));
        }

        /** Returns the query for a request that the rule's condition holds for; null to keep the client's. */
        public @Nullable String query(RequestFacts facts) {
            return query == null ? null : query.expand(facts, match(groups, facts));
        }
    }

    private static @Nullable Matcher match(@Nullable Pattern groups, RequestFacts facts) {
        Matcher match = groups == null ? null : groups.matcher(facts.path());
        return match != null && match.find() ? match : null;
    }

    /**
     * A redirection.
     *
     * @param status 301, 302, 307 or 308
     * @param to the target
     * @param groups expression that the path matches and whose groups the target uses; null for none
     */
    public record Redirect(
            int status, RedirectTarget to, @Nullable Pattern groups) {
        /** Returns the Location for a request that the rule's condition holds for. */
        public String location(RequestFacts facts) {
            return to.expand(facts, match(groups, facts));
        }
    }

    /**
     * A response of this proxy.
     *
     * @param status 200 to 599
     * @param body the content; null for one line with the status
     * @param contentType media type of the body
     */
    public record Answer(int status, @Nullable String body, String contentType) {}

    /** Returns true if the rule acts before the response: it redirects, answers, or changes the use of the cache. */
    public boolean actsOnRequest() {
        return redirect != null || answer != null || bypass || lifetime != null || rewrite != null;
    }

    /** Returns true if the condition holds, or if there is none. */
    public boolean matches(RequestFacts facts) {
        return when == null || when.test(facts);
    }

    /** Returns the number of bytes of the fields that the rule adds. */
    public int addedBytes() {
        return (requestEdits == null ? 0 : requestEdits.added().wireLength())
                + (storedEdits == null ? 0 : storedEdits.added().wireLength())
                + (responseEdits == null ? 0 : responseEdits.added().wireLength());
    }

    /** Name and place: {@code rules[2] at millrace.yaml:12:5}. */
    @Override
    public String toString() {
        return place == null ? name : name + " at " + place;
    }
}
