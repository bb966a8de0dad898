package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A redirection of some requests of a remap rule, as an element of its {@code rules}. Immutable.
 *
 * @param when condition
 * @param to target URL or path, with placeholders
 */
record RedirectRule(Directive source, String when, String to, int status) {
    /** Returns the rule for a {@code rewrite} directive. Returns null if it does not redirect, or has no equivalent. */
    static @Nullable RedirectRule ofRewrite(Directive rewrite, UrlBase base, String serverName) {
        if (!isRedirection(rewrite)) {
            return null;
        }
        boolean omitsQuery = rewrite.arg(1).endsWith("?");
        String target = rewrite.arg(1).replaceAll("\\?$", "");
        String to = target(target, base, serverName);
        if (to == null || (!omitsQuery && target.contains("?"))) {
            rewrite.notMapped("write a rule with redirect: the target has variables or a query without an equivalent");
            return null;
        }
        String whole = omitsQuery || to.endsWith("$query") ? to : to + "$query";
        String when = "path =~ " + RuleTexts.literal(rewrite.arg(0));
        return new RedirectRule(rewrite, when, whole, rewrite.arg(2).equals("permanent") ? 301 : 302);
    }

    /**
     * Returns the rule for a {@code return} directive of a location. Returns null if it has no equivalent.
     *
     * @param path path of the location
     * @param exact whether only requests for the path itself are redirected
     */
    static @Nullable RedirectRule ofReturn(
            Directive source, UrlBase base, String serverName, String path, boolean exact) {
        String encoded = UrlBase.encoded(path);
        String when = exact
                ? "path == " + RuleTexts.literal(encoded)
                : "path =~ " + RuleTexts.literal("^" + RuleTexts.quoted(encoded));
        return ofReturn(source, base, serverName, when);
    }

    /**
     * Returns the rule for a {@code return} directive. Returns null if it has no equivalent.
     *
     * @param when condition
     */
    static @Nullable RedirectRule ofReturn(Directive source, UrlBase base, String serverName, String when) {
        boolean code = source.arg(0).matches("\\d{3}");
        int status = code ? Integer.parseInt(source.arg(0)) : 302;
        String to = target(source.arg(code ? 1 : 0), base, serverName);
        if (!source.name().equals("return")
                || to == null
                || !List.of(301, 302, 307, 308).contains(status)) {
            return null;
        }
        return new RedirectRule(source, when, to, status);
    }

    private static boolean isRedirection(Directive rewrite) {
        boolean absolute = rewrite.arg(1).matches("(?i)(https?|\\$scheme)://.*");
        return rewrite.name().equals("rewrite")
                && (absolute || List.of("permanent", "redirect").contains(rewrite.arg(2)));
    }

    /** Converts the variables of a target to placeholders. Returns null if a variable has no placeholder. */
    private static @Nullable String target(String text, UrlBase base, String serverName) {
        String target = text.replaceAll("\\$\\{(\\w+)}", "\\$$1");
        if (base.scheme().isEmpty()) {
            target = target.replaceAll("^\\$scheme://\\$(http_host|host)(?=/|\\$request_uri|\\$uri)", "");
        }
        target = target.replaceAll("\\$scheme\\b", base.scheme().isEmpty() ? "\\$scheme" : base.scheme())
                .replaceAll("\\$http_host\\b", "\\$host")
                .replaceAll("\\$server_name\\b", serverName.isEmpty() ? "\\$server_name" : serverName)
                .replaceAll("\\$request_uri\\b", "\\$path\\$query")
                .replaceAll("(\\$is_args|\\?)\\$(args|query_string)\\b", "\\$query")
                .replaceAll("(?<=[^?&=])\\$(document_)?uri\\b|^\\$(document_)?uri\\b", "\\$path");
        String withoutPlaceholders = Pattern.compile("\\$([1-9](?!\\d)|host\\b|path\\b|query\\b)")
                .matcher(target)
                .replaceAll("");
        boolean isUrlOrPath = target.matches("(?i)https?://.*") || target.matches("/[^/].*|/|\\$path.*");
        return withoutPlaceholders.contains("$") || !isUrlOrPath ? null : target;
    }

    /** Writes the rule into a remap rule. */
    void write(DraftNode node) {
        DraftNode rule = node.addElement("rules").removableIfInvalid().from(source.markHandled());
        rule.put("when", when);
        rule.put("redirect.to", to);
        rule.put("redirect.status", Integer.toString(status));
    }
}
