package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The writer of {@code cache_rules}, which set the lifetime of some URLs or let requests bypass the cache. Confined to
 * one thread.
 */
public final class CacheConditions {
    private final Workspace workspace;
    private final Scope http;
    /** Identities of the written rules, so that no rule is written twice. */
    private final Set<String> written = new HashSet<>();

    public CacheConditions(Workspace workspace, Scope http) {
        this.workspace = workspace;
        this.http = http;
    }

    /**
     * Adds a cache rule for each host of a server.
     *
     * @param prefix prefix of the paths; {@code /} for every path
     * @param expression expression for the URL of the cache key; null for none
     */
    public void add(
            List<UrlBase> bases,
            String prefix,
            @Nullable String expression,
            String key,
            String value,
            Entry... sources) {
        for (UrlBase base : bases) {
            String id = base.host() + " " + prefix + " " + expression + " " + key + "=" + value;
            if (!written.add(id)) {
                for (Entry source : sources) {
                    source.recordKey("cache_rules");
                }
                continue;
            }
            DraftNode rule = workspace.draft().root().addElement("cache_rules");
            boolean all = base.isForAllHosts();
            if (!all && base.expression()) {
                rule.put("host_regex", "^(?:" + base.host() + ")$");
            } else if (!all) {
                rule.put("dest_host", base.host());
            }
            if (expression != null) {
                rule.put("url_regex", expression);
            }
            if (!prefix.equals("/")) {
                rule.put("prefix", UrlBase.encoded(prefix));
            }
            if (all && expression == null && prefix.equals("/")) {
                rule.put("dest_domain", ".");
            }
            rule.put(key, value);
            for (Entry source : sources) {
                rule.from(source);
            }
        }
    }

    /**
     * Translates {@code proxy_cache_bypass} and {@code proxy_no_cache} for a rule.
     *
     * @return false if the directives let clients demand a fresh response by Cache-Control or Pragma
     */
    public boolean translateBypasses(Scope scope, RuleSettings.Rule rule, List<UrlBase> bases, String prefix) {
        boolean clientsMayDemand = false;
        List<Directive> directives = new ArrayList<>(scope.all("proxy_cache_bypass"));
        directives.addAll(scope.all("proxy_no_cache"));
        for (Directive each : directives) {
            for (String word : each.args()) {
                for (String variable : word.replaceAll("[{}]", "").split("(?=\\$)", -1)) {
                    if (variable.equals("$http_pragma") || variable.equals("$http_cache_control")) {
                        clientsMayDemand = true;
                        each.markHandled().matchesDefaultOf("cache.ignore_client_no_cache");
                    } else {
                        new Bypass(scope, rule, bases, prefix, each).translateVariable(variable);
                    }
                }
            }
        }
        return !clientsMayDemand;
    }

    /**
     * The translator of the variables in one directive. A request bypasses the cache if a variable is neither empty nor
     * 0.
     */
    private final class Bypass {
        private final Scope scope;
        private final RuleSettings.Rule rule;
        private final List<UrlBase> bases;
        private final String prefix;
        private final Directive source;

        Bypass(Scope scope, RuleSettings.Rule rule, List<UrlBase> bases, String prefix, Directive source) {
            this.scope = scope;
            this.rule = rule;
            this.bases = bases;
            this.prefix = prefix;
            this.source = source;
        }

        void translateVariable(String text) {
            String name = text.startsWith("$") ? text.substring(1) : text;
            if (text.isEmpty()) {
                source.markHandled();
            } else if (!text.startsWith("$")) {
                translateConstant(text);
            } else if (name.startsWith("arg_")) {
                String parameter = java.util.regex.Pattern.quote(name.substring(4))
                        .replace("\\Q", "")
                        .replace("\\E", "");
                addNeverCache("[?&](?i:" + parameter + ")=[^&]", source.markHandled());
            } else if (name.equals("args") || name.equals("query_string") || name.equals("is_args")) {
                addNeverCache("\\?.", source.markHandled());
            } else if (name.startsWith("cookie_")) {
                addBypassRule(source, name, "", "");
            } else if (name.equals("http_cookie")) {
                bypassByCookies(source, "");
            } else if (name.equals("http_authorization")) {
                source.note("responses to requests with Authorization are stored only if they permit it");
            } else if (name.equals("http_upgrade")) {
                source.note("connections that switch their protocol do not use the cache");
            } else if (name.equals("upstream_http_set_cookie") || name.equals("sent_http_set_cookie")) {
                source.note("responses with cookies and without a lifetime of their own are validated at every use");
            } else if (!definedVariable(name)) {
                source.notMapped("the importer has no condition for '" + text + "'; write a rule with bypass");
            }
        }

        private void translateConstant(String text) {
            if (text.equals("0")) {
                source.note("the value 0 has no effect in nginx");
            } else {
                rule.put("cache.enabled", "false", source.markHandled());
            }
        }

        private void addNeverCache(String expression, Entry... sources) {
            add(bases, prefix, expression, "action", "never_cache", sources);
        }

        /** Writes an element of {@code rules} with {@code bypass}. Returns false if the condition has no equivalent. */
        private boolean addBypassRule(Directive directive, String variable, String operator, String value) {
            String when = ConditionText.of(new Conditions.Condition(variable, operator, value));
            if (when != null) {
                rule.bypass(when, directive.markHandled());
            }
            return when != null;
        }

        private void bypassByCookies(Directive directive, String difference) {
            rule.put("cache.cache_responses_to_cookies", "none", directive.markHandled());
            if (!difference.isEmpty()) {
                directive.notMapped(difference);
            }
        }

        /**
         * Translates a variable that {@code set}, {@code if} or {@code map} defines. Returns false if it is not
         * defined.
         */
        private boolean definedVariable(String name) {
            boolean found = false;
            for (Directive each : scope.everywhere("if")) {
                for (Directive set : each.children("set")) {
                    if (set.arg(0).equals("$" + name)) {
                        found = true;
                        source.note("requests that meet the conditions of the variable bypass the cache");
                        set.note("requests that meet the condition bypass the cache");
                        bypassByCondition(each, set);
                    }
                }
            }
            for (Directive map : http.own("map")) {
                if (map.arg(1).equals("$" + name)) {
                    found = true;
                    source.note("requests that meet the conditions of the variable bypass the cache");
                    map.note("the variable is used by " + source.entry().place());
                    translateMapLines(map);
                }
            }
            Directive set = scope.set(name);
            if (set != null && found) {
                set.note("the value applies if no condition is met");
            } else if (set != null) {
                found = true;
                set.note("the value is written where the variable is used");
                translateConstant(set.arg(1));
            }
            return found;
        }

        private void bypassByCondition(Directive test, Directive set) {
            Conditions.Condition condition = Conditions.of(test);
            if (set.arg(1).equals("0") || set.arg(1).isEmpty()) {
                test.notMapped("conditions that let requests use the cache again have no equivalent");
            } else if (condition == null) {
                test.notMapped("the condition has no equivalent");
            } else {
                bypassIf(test, condition.variable(), condition.operator(), condition.value());
            }
        }

        private void translateMapLines(Directive map) {
            String variable = map.arg(0).startsWith("$") ? map.arg(0).substring(1) : map.arg(0);
            boolean hostnames = !map.children("hostnames").isEmpty();
            for (Directive each : map.children()) {
                Conditions.Condition line = Conditions.ofMapLine(variable, each.name());
                boolean off = each.arg(0).equals("0") || each.arg(0).isEmpty();
                if (List.of("hostnames", "volatile").contains(each.name())) {
                    each.note("see the notes at the other lines of the map");
                } else if (each.name().equals("default")) {
                    if (off) {
                        each.note("requests use the cache by default");
                    } else {
                        translateDefaultLine(map, each, variable);
                    }
                } else if (off) {
                    each.note("such requests use the cache, unless another line applies");
                } else if (hostnames) {
                    each.notMapped("names of a list with hostnames can have wildcards; write a rule with bypass");
                } else {
                    bypassIf(each, variable, line.operator(), line.value());
                }
            }
        }

        /** Translates a line {@code default} that lets all other requests bypass the cache. */
        private void translateDefaultLine(Directive map, Directive line, String variable) {
            List<String> parts = new ArrayList<>();
            for (Directive each : map.children()) {
                String name = each.name().replaceAll("^[\"']|[\"']$", "");
                String when = ConditionText.of(Conditions.ofMapLine(variable, name));
                if (name.equals("volatile")) {
                    continue;
                }
                if (each != line && (when == null || name.equals("hostnames"))) {
                    line.notMapped("a line of the list has no equivalent");
                    return;
                }
                if (each != line) {
                    parts.add("!(" + when + ")");
                }
            }
            rule.bypass(parts.isEmpty() ? "path =~ \"\"" : String.join(" && ", parts), line.markHandled());
        }

        /** Lets requests bypass the cache by an expression for the URL, or else by a condition of rules. */
        private void bypassMatching(
                Directive directive, String variable, String operator, String value, @Nullable String expression) {
            if (expression != null && RuleTexts.isRe2(expression)) {
                addNeverCache(expression, directive.markHandled());
            } else if (!addBypassRule(directive, variable, operator, value)) {
                directive.notMapped("the condition has no equivalent");
            }
        }

        private void bypassIf(Directive directive, String variable, String operator, String value) {
            boolean match = operator.startsWith("~");
            String flag = operator.equals("~*") ? "(?i)" : "";
            String text = match ? flag + value : operator.equals("=") ? "^" + RuleTexts.quoted(value) + "$" : null;
            switch (variable) {
                case "request_method" -> {
                    List<String> methods = Conditions.methods(value);
                    if (methods != null && operator.startsWith("!") == methods.contains("GET")) {
                        directive.note("requests other than GET and HEAD do not use the cache");
                    } else if (!addBypassRule(directive, variable, operator, value)) {
                        directive.notMapped("requests with GET cannot bypass the cache by this expression");
                    }
                }
                case "query_string", "args", "is_args" -> {
                    if (operator.isEmpty() || (operator.equals("!=") && value.isEmpty())) {
                        addNeverCache("\\?.", directive.markHandled());
                    } else {
                        String url = match ? UrlExpressions.ofQuery(flag + value) : null;
                        bypassMatching(directive, variable, operator, value, url);
                    }
                }
                case "request_uri" -> {
                    String url = text == null ? null : UrlExpressions.ofTarget(text);
                    bypassMatching(directive, variable, operator, value, url);
                }
                case "uri", "document_uri" -> {
                    String url = text == null ? null : ConditionText.urlOfPath(text);
                    bypassMatching(directive, variable, operator, value, url);
                }
                case "http_cookie" -> {
                    if (operator.isEmpty()) {
                        bypassByCookies(directive, "");
                    } else if (!addBypassRule(directive, variable, operator, value)) {
                        bypassByCookies(
                                directive, "every request with a cookie bypasses the cache, not only those that match");
                    }
                }
                case "http_authorization" ->
                    directive.note("responses to requests with Authorization are stored only if they permit it");
                default -> {
                    if (variable.startsWith("cookie_") && !addBypassRule(directive, variable, operator, value)) {
                        bypassByCookies(
                                directive, "every request with a cookie bypasses the cache, not only those that match");
                    } else if (!variable.startsWith("cookie_")
                            && !addBypassRule(directive, variable, operator, value)) {
                        directive.notMapped("'$" + variable + "': conditions of rules have no equivalent");
                    }
                }
            }
        }
    }
}
