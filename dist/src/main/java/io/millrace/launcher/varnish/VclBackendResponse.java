package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.MediaTypes;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** The translator of {@code vcl_backend_response}. Confined to one thread. */
final class VclBackendResponse extends Walker {
    /** Note for conditions that Millrace takes into account without a rule. */
    private static final String NO_RULE_NEEDED =
            "Millrace does not store such responses, or validates them at every use";

    /** Field with directives for this cache only (RFC 9213). */
    private static final String LIFETIME_FIELD = "CDN-Cache-Control";

    /** Reason why a lifetime is not imported: its condition has no equivalent. */
    private static final String NO_EQUIVALENT =
            "rules cannot test this condition, or one of an earlier return; write a rule that sets CDN-Cache-Control";

    /**
     * Reason why a lifetime is not imported: it would also apply to responses that another line excludes. The place of
     * that line follows the text.
     */
    private static final String CANNOT_EXCLUDE =
            "the lifetime would also apply to responses that rules cannot exclude: see ";

    private static final String FORBIDDEN = "(?i)no-cache|no-store|private";

    /** A statement that excludes responses by status, with its condition; null if the condition has no equivalent. */
    private record Exclusion(Statement statement, List<Condition> around, RuleCondition.@Nullable When when) {}

    private final VclImportState state;
    /** True once a rule gives responses to some URLs a lifetime, whatever their status is. */
    private boolean hasLifetimes;
    /** True once an element of cache_rules gives responses with statuses below 400 a lifetime. */
    private boolean hasFixedLifetimes;

    private final ExcludedResponses excluded;
    /** Conditions for responses that are stale when they arrive. Rules for later lifetimes exclude these responses. */
    private final Set<String> expired = new LinkedHashSet<>();

    /** Exclusions by a test of the response, in the order of the file. {@link #finish} writes their rules. */
    private final List<Exclusion> exclusions = new ArrayList<>();
    /** Statuses with the lifetime {@link #negativeTime}. */
    private final Set<String> negativeStatuses = new LinkedHashSet<>();
    /** Media types of responses that are compressed. */
    private final Set<String> gzipTypes = new LinkedHashSet<>();
    /** Lifetime of responses with error statuses; empty until one is set. */
    private String negativeTime = "";

    VclBackendResponse(VclImportState state) {
        super(state.vcl());
        this.state = state;
        excluded = ExcludedResponses.of(state);
    }

    @Override
    boolean isFinal(String target) {
        return false;
    }

    @Override
    void statement(Statement each, List<Condition> around) {
        String target = each.target().toLowerCase(Locale.ROOT);
        switch (each.kind()) {
            case "set" -> translateSet(each, target, around);
            case "unset" -> translateUnset(each, target, around);
            case "return" -> translateAction(each, around);
            case "std.log", "std.syslog" -> each.note("the access log has the result of each request");
            case "C" -> each.notMapped("Millrace runs no code in C");
            default -> each.notMapped("the function has no equivalent");
        }
    }

    private void translateSet(Statement each, String target, List<Condition> around) {
        switch (target) {
            case "beresp.ttl" -> translateTtl(each, around);
            case "beresp.grace" -> translateGrace(each, around);
            case "beresp.keep" -> each.note("stale responses are kept for validation until the space is needed");
            case "beresp.uncacheable" -> translateUncacheable(each, around);
            case "beresp.do_stream" -> each.note("responses are always delivered while they arrive");
            case "beresp.do_gzip" -> translateGzip(each);
            case "beresp.do_gunzip" -> each.notMapped("content that the origin compresses is not decompressed");
            case "beresp.do_esi" -> translateEsi(each);
            case "beresp.storage", "beresp.storage_hint" ->
                each.notMapped("the importer does not translate the statement; volumes[].hosts and cache.volume of a"
                        + " rule select the volume");
            case "beresp.http.x-url",
                    "beresp.http.x-host",
                    "beresp.http.url",
                    "beresp.http.x-cache-tags",
                    "beresp.http.xkey" ->
                each.note("the field is not needed: purges by pattern and by tag know the URL and the tags of stored"
                        + " responses");
            default -> {
                if (target.startsWith("beresp.http.")) {
                    state.fields().write(each, pathConditions());
                } else {
                    each.notMapped("'" + each.target() + "' has no equivalent");
                }
            }
        }
    }

    /** Turns compression on for the types that the condition names. */
    private void translateGzip(Statement each) {
        if (each.value().equals("false") && pathConditions().branches().isEmpty()) {
            each.note("the setting is off, as in Millrace");
            return;
        }
        List<String> types =
                each.value().equals("true") ? types(pathConditions().branches()) : List.of();
        if (types.isEmpty()) {
            each.notMapped("compression depends on Content-Type only; write compression, globally or in a rule");
            return;
        }
        gzipTypes.addAll(types);
        DraftNode root = state.workspace().draft().root();
        Entry entry = each.markHandled();
        root.put("compression.enabled", "true").from(entry);
        root.putWords("compression.encodings", List.of("gzip")).from(entry);
        root.putWords("compression.types", List.copyOf(gzipTypes))
                .removableIfInvalid()
                .from(entry);
        root.put("compression.min_size", "0").remark("Varnish compresses content of any size; without the line: 1KiB");
        each.note("Millrace compresses only responses with status 200, 203, 403, 404 and 410, up to"
                + " compression.max_size");
        if (!types.equals(MediaTypes.ANY)) {
            each.note("the types are those that the importer knows");
        }
        if (!pathConditions().passedReturns().isEmpty()) {
            each.note("the setting also applies to responses for which an earlier return ends the subroutine");
        }
    }

    /** Turns ESI on, for HTML or for the responses that ask for it. */
    private void translateEsi(Statement each) {
        if (each.value().equals("false") && pathConditions().branches().isEmpty()) {
            each.note("the setting is off, as in Millrace");
            return;
        }
        boolean isAsked = isSurrogateControl(pathConditions().branches());
        if (!each.value().equals("true")
                || (!isAsked
                        && !types(pathConditions().branches()).contains("text/html")
                        && !pathConditions().branches().isEmpty())) {
            each.notMapped("ESI depends on Content-Type or Surrogate-Control only; write esi in a rule of remap");
            return;
        }
        DraftNode root = state.workspace().draft().root();
        Entry entry = each.markHandled();
        root.put("esi.enabled", "true").from(entry);
        if (!isAsked) {
            root.put("esi.when", "always").from(entry);
            each.note("ESI applies to responses of type text/html, and to others with Surrogate-Control");
        } else {
            each.note("ESI applies to responses with Surrogate-Control: content=\"ESI/1.0\"");
        }
        if (!pathConditions().passedReturns().isEmpty()) {
            each.note("the setting also applies to responses for which an earlier return ends the subroutine");
        }
    }

    /** Returns true if conditions are met only by responses whose Surrogate-Control asks for ESI. */
    private static boolean isSurrogateControl(List<Condition> conditions) {
        List<List<Condition.Test>> alternatives = Condition.alternatives(new Condition.All(conditions));
        return !conditions.isEmpty()
                && alternatives.stream().allMatch(tests -> tests.size() == 1 && asksForEsi(tests.get(0)));
    }

    /**
     * Returns true for a test whether Surrogate-Control asks for ESI, or whether the response has this field. Returns
     * false for all negations.
     */
    private static boolean asksForEsi(Condition.Test test) {
        if (!test.left().equalsIgnoreCase("beresp.http.surrogate-control")) {
            return false;
        }
        return switch (test.operator()) {
            case "" -> true;
            case "==" -> test.quoted() && test.right().replace("\"", "").equals("content=ESI/1.0");
            case "~" -> test.quoted() && findsEsiOnly(test.right());
            default -> false;
        };
    }

    /** Returns true if an expression finds values that ask for ESI, and no other value. */
    private static boolean findsEsiOnly(String expression) {
        try {
            Pattern pattern = Pattern.compile(expression);
            return pattern.matcher("content=\"ESI/1.0\"").find()
                    && !pattern.matcher("").find()
                    && !pattern.matcher("max-age=3600, no-store, content=\"\"").find();
        } catch (PatternSyntaxException e) {
            return false;
        }
    }

    /**
     * Returns the media types of the responses that meet conditions; all types if there are none. Returns an empty list
     * if the conditions test anything but Content-Type.
     */
    private static List<String> types(List<Condition> conditions) {
        if (conditions.isEmpty()) {
            return MediaTypes.ANY;
        }
        Set<String> types = new LinkedHashSet<>();
        for (List<Condition.Test> tests : Condition.alternatives(new Condition.All(conditions))) {
            if (tests.size() != 1 || !isOfType(tests.get(0))) {
                return List.of();
            }
            Condition.Test test = tests.get(0);
            try {
                boolean isText = test.operator().equals("==");
                Pattern pattern = Pattern.compile(isText ? Pattern.quote(test.right()) : test.right());
                types.addAll(MediaTypes.known(value -> isText
                        ? pattern.matcher(value).matches()
                        : pattern.matcher(value).find()));
            } catch (PatternSyntaxException e) {
                return List.of();
            }
        }
        return List.copyOf(types);
    }

    private static boolean isOfType(Condition.Test test) {
        return test.quoted()
                && test.left().equalsIgnoreCase("beresp.http.content-type")
                && List.of("~", "==").contains(test.operator());
    }

    private void translateTtl(Statement each, List<Condition> around) {
        String time = VclImportState.time(each.value());
        if (time == null) {
            each.notMapped("a lifetime must be a constant");
            return;
        }
        boolean returned = !pathConditions().passedReturns().isEmpty();
        if (around.isEmpty() && !returned && excluded.lifetimes() == 1 && !excluded.isByResponse()) {
            state.set("cache.guaranteed_min_lifetime", time, each.markHandled());
            state.set("cache.guaranteed_max_lifetime", time, each.markHandled());
            return;
        }
        boolean byDefault = !around.isEmpty() && Match.all(around).stream().allMatch(Match::isResponseDefault);
        if (!byDefault && (around.isEmpty() || returned)) {
            writeLifetime(each);
            return;
        }
        if (Match.all(around).stream().allMatch(Match::isUrl) && isBuiltInReached() && writeLifetime(each)) {
            return;
        }
        long seconds = VclImportState.seconds(each.value());
        if (seconds > 0 && needsLifetimeRule(around, time) && writeLifetime(each)) {
            return;
        }
        Exclusion limited = new Exclusion(each, around, when());
        String directive = seconds <= 0 ? "no-store" : "max-age=" + seconds;
        boolean byStatus = Match.all(around).stream().anyMatch(Match::testsStatus);
        boolean onlyByStatus = Match.all(around).stream().allMatch(Match::isStatus);
        if (byStatus && !onlyByStatus && limitLifetimes(limited, directive)) {
            return;
        }
        for (Match match : Match.all(around)) {
            if (match.isResponseDefault()) {
                each.note(NO_RULE_NEEDED);
            } else if (match.isStatus()) {
                translateStatus(each, match, time);
            } else if (match.isUrl()) {
                boolean never = time.equals("0");
                Statement unknown = never ? null : excluded.unknown();
                if (unknown != null) {
                    each.notMapped(CANNOT_EXCLUDE + unknown.entry().place());
                } else if (!state.rule(
                        match, never ? "action" : "ttl_in_cache", never ? "never_cache" : time, each.markHandled())) {
                    each.notMapped("the condition has more than one test of URL or host");
                } else if (!never) {
                    each.note("the lifetime holds whatever the response says, except private");
                    hasFixedLifetimes = true;
                }
            } else {
                each.notMapped("'" + match.unknown() + "': lifetimes are chosen by URL, host and status");
            }
        }
        if (onlyByStatus) {
            limitLifetimes(limited, directive);
        }
    }

    /**
     * Returns true if the conditions test only the status, and negative caching cannot express the lifetime. Negative
     * caching applies to errors only, and has one lifetime for all of them.
     */
    private boolean needsLifetimeRule(List<Condition> around, String time) {
        List<Match> all = Match.all(around);
        boolean differs = !negativeTime.isEmpty() && !negativeTime.equals(time);
        return all.stream().allMatch(Match::isStatus)
                && (differs
                        || all.stream().flatMap(each -> each.codes().stream()).anyMatch(code -> code.charAt(0) <= '3'));
    }

    private RuleCondition.@Nullable When when() {
        return state.fields().conditions().of(pathConditions(), true);
    }

    /** Writes the rules for responses that are not stored. They come last, so that no lifetime overrides them. */
    void finish() {
        exclusions.forEach(each -> limitLifetimes(each, "no-store"));
    }

    /**
     * Writes a rule for the responses of an exclusion. It replaces the lifetimes that these responses get from rules
     * for URLs. Returns false if no rule gives a lifetime, or if the condition of the exclusion has no equivalent.
     */
    private boolean limitLifetimes(Exclusion limited, String directive) {
        Statement each = limited.statement;
        boolean isFixed = hasFixedLifetimes
                && Match.all(limited.around).stream()
                        .anyMatch(match -> match.codes().stream().anyMatch(code -> code.compareTo("400") < 0));
        boolean hasCondition = limited.when != null && !limited.when.text().isEmpty();
        if (isFixed || (hasLifetimes && !hasCondition)) {
            each.notMapped("these responses have the lifetimes that other lines set by URL");
        }
        if (!hasLifetimes || !hasCondition || limited.when == null) {
            return false;
        }
        boolean stored = !directive.equals("no-store");
        String when = stored ? permitted(each, limited.when.text()) : limited.when.text();
        write(each, new RuleCondition.When(when, limited.when.partial()), directive);
        return true;
    }

    private void write(Statement each, RuleCondition.When when, String directive) {
        DraftNode rule = state.fields().rule(each, when);
        rule.put("set_stored_header." + LIFETIME_FIELD, directive);
        rule.putWords("remove_response_header", List.of(LIFETIME_FIELD));
    }

    /**
     * Returns true if Varnish continues with its built-in VCL. The built-in VCL does not store responses with private,
     * no-cache and no-store.
     */
    private boolean isBuiltInReached() {
        return state.vcl().sub("vcl_backend_response").stream()
                .noneMatch(one -> one.kind().equals("return"));
    }

    /**
     * Writes a rule that gives the lifetime of a statement to the responses that reach it, by a field for this cache
     * only. The rule excludes responses that the built-in VCL does not store. Reports the statement if its condition
     * has no equivalent, or if another statement excludes responses by a test that rules do not have. Returns false
     * without a report if the statement is in a condition that other settings may express.
     */
    private boolean writeLifetime(Statement each) {
        long seconds = VclImportState.seconds(each.value());
        RuleCondition conditions = state.fields().conditions();
        List<Condition> branches = pathConditions().branches();
        boolean always = branches.isEmpty() || !pathConditions().passedReturns().isEmpty();
        String when = seconds > 0 || branches.isEmpty()
                ? conditions.ofLifetime(pathConditions())
                : conditions.ofExcluded(branches);
        if (!always && (seconds <= 0 || when == null || when.isEmpty())) {
            return false;
        }
        Statement unknown = excluded.unknown();
        if (when == null) {
            each.notMapped(NO_EQUIVALENT);
        } else if (seconds <= 0) {
            write(each, new RuleCondition.When(when, false), "no-store");
        } else if (unknown != null) {
            each.notMapped(CANNOT_EXCLUDE + unknown.entry().place());
        } else {
            StringBuilder current = new StringBuilder(when);
            expired.stream().filter(one -> !when.contains(one)).forEach(one -> current.append(
                            current.isEmpty() ? "!(" : " && !(")
                    .append(one)
                    .append(')'));
            String text = isBuiltInReached() ? permitted(each, current.toString()) : current.toString();
            write(each, new RuleCondition.When(text, false), "max-age=" + seconds);
            hasLifetimes = true;
            each.note("the lifetime holds whatever the response says"
                    + (isBuiltInReached() ? ", except private, no-cache and no-store" : ""));
        }
        return true;
    }

    /** Returns a condition that also excludes the responses that the built-in VCL does not store. */
    private String permitted(Statement each, String when) {
        boolean isCookieRemoved = isCookieRemoved(state.vcl().sub("vcl_backend_response"), each)
                || isCookieRemoved(state.vcl().sub("vcl_fetch"), each);
        return (when.isEmpty() ? "" : when + " && ") + "!(response_header[\"Cache-Control\"] =~ \"" + FORBIDDEN + "\")"
                + " && !(response_header[\"Surrogate-Control\"] =~ \"(?i)no-store\")"
                + (isCookieRemoved ? "" : " && !(response_header[\"Set-Cookie\"] =~ \"\")");
    }

    /**
     * Returns true if Set-Cookie is removed from all responses that reach a statement: in a block around it, or in a
     * block with the same condition. With this field, the built-in VCL does not store a response.
     */
    private static boolean isCookieRemoved(List<Statement> statements, Statement last) {
        for (Statement each : statements) {
            if (each == last || contains(each.body(), last)) {
                Condition condition = each.kind().equals("if") ? each.condition() : null;
                return removesCookie(statements)
                        || statements.stream()
                                .anyMatch(one -> one.kind().equals("if")
                                        && condition != null
                                        && condition.equals(one.condition())
                                        && removesCookie(one.body()))
                        || isCookieRemoved(each.body(), last);
            }
        }
        return false;
    }

    private static boolean contains(List<Statement> statements, Statement wanted) {
        return statements.stream().anyMatch(each -> each == wanted || contains(each.body(), wanted));
    }

    private static boolean removesCookie(List<Statement> statements) {
        return statements.stream()
                .anyMatch(each ->
                        each.kind().equals("unset") && each.target().equalsIgnoreCase("beresp.http.set-cookie"));
    }

    private void translateStatus(Statement each, Match match, String time) {
        List<String> all = match.codes();
        if (time.equals("0")) {
            each.note("error responses without an explicit lifetime are not stored by default");
            return;
        }
        if (all.isEmpty()) {
            each.notMapped("no status from 200 to 599 meets the condition");
            return;
        }
        if (!negativeTime.isEmpty() && !negativeTime.equals(time)) {
            each.notMapped("all statuses have one lifetime, " + negativeTime);
            return;
        }
        negativeTime = time;
        negativeStatuses.addAll(all);
        DraftNode root = state.workspace().draft().root();
        Entry entry = each.markHandled();
        root.put("cache.negative_caching.enabled", "true").from(entry);
        root.put("cache.negative_caching.lifetime", time).removableIfInvalid().from(entry);
        root.putWords(
                        "cache.negative_caching.list",
                        negativeStatuses.stream().sorted().toList())
                .removableIfInvalid()
                .from(entry);
    }

    private void translateGrace(Statement each, List<Condition> around) {
        String time = VclImportState.time(each.value());
        if (time == null) {
            each.notMapped("the time must be a constant");
            return;
        }
        DraftNode earlierSetting = state.workspace().draft().root().find("cache.force_stale_while_revalidate");
        if (!around.isEmpty() && earlierSetting != null) {
            each.notMapped("all responses have the same time, from an earlier line");
            return;
        }
        if (!around.isEmpty()) {
            each.markHandled().note("the time holds for all responses, not only for those that meet the condition");
        }
        state.set("cache.force_stale_while_revalidate", time, each.markHandled());
        state.set("cache.max_stale_age", time, each.markHandled());
    }

    private void translateUncacheable(Statement each, List<Condition> around) {
        if (each.value().equals("false")) {
            each.note("responses are stored by default, if they may be");
            return;
        }
        RuleCondition.When all = when();
        boolean returned = !pathConditions().passedReturns().isEmpty();
        if (around.isEmpty() && returned && all != null && !all.partial() && !all.readsClient()) {
            write(each, all, "no-store");
            return;
        }
        if (around.isEmpty()) {
            state.set("cache.enabled", "false", each.markHandled());
            if (returned) {
                each.notMapped("the setting also applies to responses for which an earlier return ends the subroutine");
            }
            return;
        }
        exclude(each, around);
        for (Match match : Match.all(around)) {
            if (match.isResponseDefault()) {
                each.note(NO_RULE_NEEDED);
            } else if (match.isUnsafe()) {
                each.note("responses to other methods than GET and HEAD are not stored");
            } else if (match.isStatus()) {
                each.note("error responses without an explicit lifetime are not stored by default");
            } else if (!match.isUrl() || !state.rule(match, "action", "never_cache", each.markHandled())) {
                each.notMapped("responses are excluded by URL and host only");
            }
        }
    }

    /** Records the responses that a statement makes uncacheable, for lifetimes of earlier and later statements. */
    private void exclude(Statement each, List<Condition> around) {
        RuleCondition conditions = state.fields().conditions();
        List<Condition> alternatives = new ArrayList<>();
        List<List<Condition.Test>> all =
                Condition.alternatives(new Condition.All(pathConditions().branches()));
        if (all.equals(Condition.TOO_MANY)) {
            // The condition without the negations of earlier branches is wider, so it excludes more responses.
            all = Condition.alternatives(new Condition.All(around));
        }
        for (List<Condition.Test> tests : all) {
            Match match = Match.of(tests);
            boolean lifetime = tests.stream().anyMatch(test -> test.left().equalsIgnoreCase("beresp.ttl"));
            String excluded = lifetime ? conditions.ofExcluded(List.copyOf(tests)) : null;
            if (excluded != null) {
                expired.add(excluded);
            } else if (match.testsResponse() && !match.isForbidden()) {
                alternatives.add(new Condition.All(List.copyOf(tests)));
            }
        }
        if (!alternatives.isEmpty()) {
            String when = conditions.ofExcluded(List.of(new Condition.Any(alternatives)));
            exclusions.add(new Exclusion(each, around, when == null ? null : new RuleCondition.When(when, false)));
        }
    }

    private void translateUnset(Statement each, String target, List<Condition> around) {
        switch (target) {
            case "beresp.http.set-cookie" -> {
                if (state.fields().writeIfPossible(each, pathConditions())) {
                    return;
                }
                DraftNode node =
                        state.workspace().draft().root().putWords("cache.unshared_fields", List.of("Set-Cookie"));
                node.from(each.markHandled());
                each.note("the client whose request is forwarded still gets the field");
                if (!around.isEmpty()) {
                    each.note("the field is left out of all stored responses");
                }
            }
            case "beresp.http.surrogate-control" -> {
                if (isSurrogateControl(pathConditions().branches())) {
                    // Without the field in the stored response, the page would not be assembled.
                    each.note("the field is removed when the page is assembled");
                } else {
                    state.fields().write(each, pathConditions());
                }
            }
            default -> state.fields().write(each, pathConditions());
        }
    }

    private void translateAction(Statement each, List<Condition> around) {
        switch (each.target()) {
            case "deliver" -> each.note("responses are delivered by default");
            case "pass" -> translateUncacheable(each, around);
            case "retry" -> each.notMapped("requests are repeated by groups of origins only: origins[].retry");
            case "abandon" -> translateAbandon(each, around);
            default -> each.notMapped("the action has no equivalent");
        }
    }

    private void translateAbandon(Statement each, List<Condition> around) {
        for (Match match : Match.all(around)) {
            if (match.isStatus() || !match.codes().isEmpty()) {
                each.markHandled().matchesDefaultOf("cache.negative_revalidating.enabled");
                each.note("a stale response is served if the origin answers 500, 502, 503 or 504");
            } else {
                each.notMapped("abandon has an equivalent only for conditions on the status");
            }
        }
    }
}
