package io.millrace.proxy.config.rules;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.FieldLines;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.expression.request.RequestFields;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Compiles one element of {@code rules}, and reports each of its faults. For a single use, confined to one thread. */
public final class RuleCompiler {
    private static final int BODY_MAX = 64 * 1024;
    private static final Set<Integer> REDIRECT_STATUSES = Set.of(301, 302, 307, 308);

    /** Response fields that rules cannot change: those of framing, connection and the stored response itself. */
    private static final Set<String> FIXED_RESPONSE_FIELDS = Set.of(
            "age",
            "connection",
            "content-length",
            "content-range",
            "date",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    /** Request fields that rules cannot change, because this proxy writes them or a fetch for the cache sets them. */
    private static final Set<String> FIXED_REQUEST_FIELDS = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "http2-settings",
            "if-match",
            "if-modified-since",
            "if-none-match",
            "if-range",
            "if-unmodified-since",
            "keep-alive",
            "max-forwards",
            "proxy-connection",
            "range",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "via");

    /** Fields of stored responses that rules cannot change either, because they identify the representation. */
    private static final Set<String> FIXED_STORED_FIELDS = Set.of("etag", "last-modified");

    /** Receives the faults of a rule. */
    public interface Faults {
        /**
         * Reports a fault.
         *
         * @param key path of the key within the rule, such as {@code redirect.to}; empty for the rule as a whole
         * @param suggestion the value that was probably meant; null if unknown
         */
        void report(String key, String message, @Nullable String suggestion);
    }

    private final ConfigValues element;
    private final Set<String> unkeyed;
    private final Faults faults;
    private boolean faulty;

    private RuleCompiler(ConfigValues element, Set<String> unkeyed, Faults faults) {
        this.element = element;
        this.unkeyed = unkeyed;
        this.faults = faults;
    }

    /**
     * Compiles a rule.
     *
     * @param name path of the rule, such as {@code rules[2]}
     * @param lifetimeIndex index of the rule's lifetime in the list of cache rules; rules that set lifetimes follow the
     *     elements of {@code cache_rules}
     * @param unkeyed the fields of conditions, such as {@code host}, whose values the settings of cache keys may omit
     *     from the keys
     * @return null after a fault
     */
    public static @Nullable RuleConfig compile(
            String name, int lifetimeIndex, ConfigValues element, Set<String> unkeyed, Faults faults) {
        return new RuleCompiler(element, unkeyed, faults).compile(name, lifetimeIndex);
    }

    private @Nullable RuleConfig compile(String name, int lifetimeIndex) {
        List<String> actions = new ArrayList<>();
        for (ConfigKey<?> key : RuleKeys.ACTIONS) {
            if (element.isSet(key) && !Boolean.FALSE.equals(element.find(key))) {
                actions.add(pathInRule(key));
            }
        }
        boolean isIncomplete = checkIncompleteActions();
        if (actions.isEmpty() && !isIncomplete) {
            fault(
                    "",
                    "has no action; set one of "
                            + String.join(
                                    ", ",
                                    RuleKeys.ACTIONS.stream()
                                            .map(RuleCompiler::pathInRule)
                                            .toList()));
        }
        Expression<RequestFacts> when = condition();
        FieldEdits requestEdits = edits(
                RuleKeys.SET_REQUEST_HEADER,
                RuleKeys.ADD_REQUEST_HEADER,
                RuleKeys.REMOVE_REQUEST_HEADER,
                FIXED_REQUEST_FIELDS);
        FieldEdits responseEdits = edits(
                RuleKeys.SET_RESPONSE_HEADER,
                RuleKeys.ADD_RESPONSE_HEADER,
                RuleKeys.REMOVE_RESPONSE_HEADER,
                FIXED_RESPONSE_FIELDS);
        Set<String> refused = new TreeSet<>(FIXED_RESPONSE_FIELDS);
        refused.addAll(FIXED_STORED_FIELDS);
        FieldEdits storedEdits =
                edits(RuleKeys.SET_STORED_HEADER, RuleKeys.ADD_STORED_HEADER, RuleKeys.REMOVE_STORED_HEADER, refused);
        RuleConfig.Rewrite rewrite = rewrite(when);
        RuleConfig.Redirect redirect = redirect(when);
        RuleConfig.Answer answer = answer();
        boolean bypass = element.get(RuleKeys.BYPASS);
        Duration ttl = element.find(RuleKeys.TTL);
        checkTogether(when, bypass);
        return faulty
                ? null
                : new RuleConfig(
                        name,
                        element.filePosition(),
                        when,
                        requestEdits,
                        responseEdits,
                        storedEdits,
                        rewrite,
                        redirect,
                        answer,
                        bypass,
                        ttl == null ? null : CacheRuleConfig.lifetime(lifetimeIndex, name, ttl, element.filePosition()),
                        List.copyOf(actions));
    }

    private void fault(String key, String message) {
        fault(key, message, null);
    }

    private void fault(String key, String message, @Nullable String suggestion) {
        faulty = true;
        faults.report(key, message, suggestion);
    }

    private static String pathInRule(ConfigKey<?> key) {
        return key.path().substring("rules[].".length());
    }

    /** Reports a redirection without a target, or an answer without a status. Returns true if there is one. */
    private boolean checkIncompleteActions() {
        boolean redirect = element.isSet(RuleKeys.REDIRECT_STATUS) && !element.isSet(RuleKeys.REDIRECT_TO);
        boolean answer = (element.isSet(RuleKeys.ANSWER_BODY) || element.isSet(RuleKeys.ANSWER_TYPE))
                && !element.isSet(RuleKeys.ANSWER_STATUS);
        if (redirect) {
            fault("redirect", "has no key 'to' with the target URL");
        }
        if (answer) {
            fault("answer", "has no status, such as status: 403");
        }
        return redirect || answer;
    }

    private @Nullable Expression<RequestFacts> condition() {
        String text = element.find(RuleKeys.WHEN);
        if (text == null) {
            return null;
        }
        try {
            return Expression.parse(text, RequestFields.SCHEMA);
        } catch (ExpressionException e) {
            fault("when", e.message());
            return null;
        }
    }

    private @Nullable FieldEdits edits(
            ConfigKey<FieldLines> set, ConfigKey<FieldLines> add, ConfigKey<List<String>> remove, Set<String> refused) {
        List<FieldName> removed = new ArrayList<>();
        FieldSection.Builder added = FieldSection.builder();
        List<String> names = element.find(remove);
        for (String name : names == null ? List.<String>of() : names) {
            checkName(remove, name, refused);
            removed.add(FieldName.of(name));
        }
        FieldLines lines = element.find(set);
        for (FieldLines.Line line : lines == null ? List.<FieldLines.Line>of() : lines.lines()) {
            checkName(set, line.name(), refused);
            removed.add(FieldName.of(line.name()));
            added.add(FieldName.of(line.name()), line.value());
        }
        lines = element.find(add);
        for (FieldLines.Line line : lines == null ? List.<FieldLines.Line>of() : lines.lines()) {
            checkName(add, line.name(), refused);
            added.add(FieldName.of(line.name()), line.value());
        }
        FieldSection section = added.build();
        return removed.isEmpty() && section.size() == 0
                ? null
                : FieldEdits.of(removed, section).encoded();
    }

    private void checkName(ConfigKey<?> key, String name, Set<String> refused) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (!refused.contains(lower)) {
            return;
        }
        String why = lower.equals("host")
                ? "rules cannot change it; use pristine_host_hdr, or the host of remap[].to"
                : "rules cannot change it, because this proxy computes it for each message";
        fault(pathInRule(key), name + ": " + why);
    }

    private RuleConfig.@Nullable Redirect redirect(@Nullable Expression<RequestFacts> when) {
        String text = element.find(RuleKeys.REDIRECT_TO);
        if (text == null) {
            return null;
        }
        int status = element.get(RuleKeys.REDIRECT_STATUS);
        if (!REDIRECT_STATUSES.contains(status)) {
            fault("redirect.status", status + " is none of 301, 302, 307 and 308");
        }
        RedirectTarget to;
        try {
            to = RedirectTarget.parse(text);
        } catch (InvalidValueException e) {
            fault("redirect.to", e.problem(), e.suggestion());
            return null;
        }
        return new RuleConfig.Redirect(status, to, groups("redirect.to", to, when));
    }

    /**
     * Returns the regular expression of the condition whose groups a template uses. Null if it uses none, or after a
     * fault.
     */
    private @Nullable Pattern groups(
            String key, @Nullable RedirectTarget template, @Nullable Expression<RequestFacts> when) {
        if (template == null || template.lastGroup() < 0) {
            return null;
        }
        Pattern groups = when == null ? null : when.requiredMatch("path");
        if (groups == null) {
            if (when != null || !element.isSet(RuleKeys.WHEN)) {
                fault(
                        key,
                        "$" + template.lastGroup() + " needs one comparison path =~ in when, which is neither negated"
                                + " nor an alternative of ||");
            }
        } else if (groups.groupCount() < template.lastGroup()) {
            fault(
                    key,
                    "$" + template.lastGroup() + " is not a group of the expression, whose number of groups is "
                            + groups.groupCount());
        }
        return groups;
    }

    private RuleConfig.@Nullable Rewrite rewrite(@Nullable Expression<RequestFacts> when) {
        RedirectTarget path = null;
        RedirectTarget query = null;
        String text = element.find(RuleKeys.REWRITE_PATH);
        if (text != null) {
            try {
                path = RedirectTarget.parsePath(text);
            } catch (InvalidValueException e) {
                fault("rewrite.path", e.problem(), e.suggestion());
            }
        }
        text = element.find(RuleKeys.REWRITE_QUERY);
        if (text != null) {
            try {
                query = RedirectTarget.parseQuery(text);
            } catch (InvalidValueException e) {
                fault("rewrite.query", e.problem(), e.suggestion());
            }
        }
        if (path == null && query == null) {
            return null;
        }
        Pattern ofPath = groups("rewrite.path", path, when);
        Pattern ofQuery = groups("rewrite.query", query, when);
        return new RuleConfig.Rewrite(path, query, ofPath == null ? ofQuery : ofPath);
    }

    private RuleConfig.@Nullable Answer answer() {
        Integer status = element.find(RuleKeys.ANSWER_STATUS);
        if (status == null) {
            return null;
        }
        String body = element.find(RuleKeys.ANSWER_BODY);
        if (body != null && body.length() > BODY_MAX) {
            fault("answer.body", "has " + body.length() + " characters, limit=" + BODY_MAX);
        }
        if (body != null && (status == 204 || status == 304)) {
            fault("answer.body", "a response with status " + status + " has no content");
        }
        String type = element.get(RuleKeys.ANSWER_TYPE);
        if (!type.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            fault("answer.content_type", "has a character other than visible ASCII characters and spaces");
        }
        return new RuleConfig.Answer(status, body, type);
    }

    /** Checks the actions of a rule against each other and against its condition. */
    private void checkTogether(@Nullable Expression<RequestFacts> when, boolean bypass) {
        // Actions that end the request.
        List<String> ends = new ArrayList<>();
        for (ConfigKey<?> key : List.of(RuleKeys.REDIRECT_TO, RuleKeys.ANSWER_STATUS)) {
            if (element.isSet(key)) {
                ends.add(pathInRule(key).replaceFirst("\\..*", ""));
            }
        }
        // Actions that change the request to the origin.
        List<String> onRequest = new ArrayList<>();
        for (ConfigKey<?> key : List.of(
                RuleKeys.SET_REQUEST_HEADER,
                RuleKeys.ADD_REQUEST_HEADER,
                RuleKeys.REMOVE_REQUEST_HEADER,
                RuleKeys.REWRITE_PATH,
                RuleKeys.REWRITE_QUERY)) {
            if (element.isSet(key)) {
                onRequest.add(pathInRule(key));
            }
        }
        // Actions that change the stored response.
        List<String> onStored = new ArrayList<>();
        for (ConfigKey<?> key :
                List.of(RuleKeys.SET_STORED_HEADER, RuleKeys.ADD_STORED_HEADER, RuleKeys.REMOVE_STORED_HEADER)) {
            if (element.isSet(key)) {
                onStored.add(pathInRule(key));
            }
        }
        // Actions that take effect before the response is known. Their effect reaches every client that gets the stored
        // response.
        List<String> shared = new ArrayList<>(onRequest);
        if (element.isSet(RuleKeys.TTL)) {
            shared.add("ttl");
        }
        if (ends.size() > 1) {
            fault("answer", "has no effect beside redirect");
        } else if (!ends.isEmpty() && (bypass || !shared.isEmpty() || !onStored.isEmpty())) {
            String useless = bypass ? "bypass" : shared.isEmpty() ? onStored.get(0) : shared.get(0);
            fault(useless, "has no effect beside " + ends.get(0) + ", which ends the request");
        }
        if (bypass && element.isSet(RuleKeys.TTL)) {
            fault("ttl", "has no effect beside bypass, since nothing is stored");
        }
        checkRewrite(bypass);
        if (when == null) {
            return;
        }
        // Actions that need the result of the condition before the response is known.
        List<String> before = new ArrayList<>(ends);
        before.addAll(shared);
        if (bypass) {
            before.add("bypass");
        }
        checkPhases(when, before, onStored);
        shared.addAll(onStored);
        checkShared(when, shared, bypass);
    }

    /** Checks that a rewrite does not use a host that cache keys can omit. */
    private void checkRewrite(boolean bypass) {
        for (ConfigKey<String> key : List.of(RuleKeys.REWRITE_PATH, RuleKeys.REWRITE_QUERY)) {
            String template = element.find(key);
            if (template != null && template.contains("$host") && unkeyed.contains("host") && !bypass) {
                fault(
                        key == RuleKeys.REWRITE_PATH ? "rewrite.path" : "rewrite.query",
                        "uses $host, but cache.key.host lets several hosts share a response");
            }
        }
    }

    /** Checks that the condition reads only facts that are known when the actions need them. */
    private void checkPhases(Expression<RequestFacts> when, List<String> before, List<String> onStored) {
        String response = fieldOf(when, RequestFields::isOfResponse);
        if (response != null && !before.isEmpty()) {
            fault(
                    "when",
                    "reads " + response + ", which is known only when the response is sent, but " + before.get(0)
                            + " acts before; only the actions with response_header and stored_header can use it");
        }
        boolean readsResult = fieldOf(when, field -> field.name().equals("cache")) != null;
        if (before.isEmpty() && !onStored.isEmpty() && readsResult) {
            fault(
                    "when",
                    "reads cache, which differs between the requests that a stored response serves, but "
                            + onStored.get(0) + " changes that response");
        }
    }

    /** Checks that the condition has the same result for all requests that share a response. */
    private void checkShared(Expression<RequestFacts> when, List<String> shared, boolean bypass) {
        String client = fieldOf(when, RequestFields::isOfClient);
        if (client != null && !bypass && !shared.isEmpty()) {
            fault(
                    "when",
                    "reads " + client + ", which differs between clients, but " + shared.get(0)
                            + " changes the stored response, which serves all clients"
                            + (shared.contains("ttl") ? "" : "; add bypass: true to the rule"));
        }
        String omitted = fieldOf(when, field -> unkeyed.contains(field.name()));
        if (omitted != null && !bypass && !shared.isEmpty()) {
            fault(
                    "when",
                    "reads " + omitted + ", which cache.key can omit from keys, but " + shared.get(0)
                            + " changes the stored response, which serves all requests of the key");
        }
        List<String> changes =
                shared.stream().filter(action -> !action.equals("ttl")).toList();
        if (!bypass && !changes.isEmpty() && !when.isSameFor("method", "GET", "HEAD")) {
            fault(
                    "when",
                    "reads method and can differ between GET and HEAD, but " + changes.get(0)
                            + " changes the stored response, which serves both; write method in (\"GET\", \"HEAD\")"
                            + (shared.contains("ttl") ? "" : ", or add bypass: true to the rule"));
        }
    }

    private static @Nullable String fieldOf(Expression<RequestFacts> when, Predicate<Field<RequestFacts>> kind) {
        for (Field<RequestFacts> field : when.fields()) {
            if (kind.test(field)) {
                return field.name();
            }
        }
        return null;
    }
}
