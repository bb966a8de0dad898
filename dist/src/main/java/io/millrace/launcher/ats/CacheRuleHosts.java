package io.millrace.launcher.ats;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.proxy.config.value.Regex;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A converter of cache.config conditions from target URLs to client URLs. Traffic Server matches a line against the
 * target URL of the remap rule, but Millrace matches cache rules against the client's URL.
 */
final class CacheRuleHosts {
    private static final List<String> CONDITIONS =
            List.of("dest_domain", "dest_host", "host_regex", "prefix", "port", "scheme");

    private final List<RemapRule> rules;
    private final boolean forward;

    /**
     * Creates a converter.
     *
     * @param rules the remap rules that map to an origin
     * @param forward whether the forward proxy is enabled
     */
    CacheRuleHosts(List<RemapRule> rules, boolean forward) {
        this.rules = rules;
        this.forward = forward;
    }

    /**
     * Returns the cache rules for a line. Returns an empty result if no remap rule maps to a URL that the line matches.
     */
    List<DraftNode> of(DraftNode line, Entry entry) {
        if (line.field("url_regex") != null && rules.stream().anyMatch(rule -> !keepsUrl(rule))) {
            entry.notMapped(
                    "url_regex: Millrace matches the client's URL, Traffic Server matches the target URL of the remap rule");
        }
        if (rules.isEmpty() || CONDITIONS.stream().noneMatch(name -> line.field(name) != null)) {
            return List.of(line);
        }
        List<DraftNode> lines = new ArrayList<>();
        Set<String> seen = new LinkedHashSet<>();
        for (RemapRule rule : rules) {
            String prefix = prefix(text(line, "prefix"), rule);
            if (prefix == null || !matchesTarget(line, rule)) {
                continue;
            }
            if (!isNeverCached(line) && isWider(line, rule)) {
                entry.notMapped("the line is not applied to the remap rule of "
                        + rule.entry().place()
                        + ", which matches every host that no other rule matches: write rules for the intended"
                        + " hosts");
            } else if (seen.add(hosts(rule) + prefix)) {
                lines.add(copy(line, rule, prefix));
            }
        }
        if (forward) {
            lines.add(line);
        }
        return lines;
    }

    /**
     * Returns true if the cache rule would apply to too many hosts. This is so if the remap rule has no host, and the
     * line does not match another remap rule that has one.
     */
    private boolean isWider(DraftNode line, RemapRule rule) {
        return rule.fromHost().isEmpty()
                && rules.stream()
                        .anyMatch(other -> !other.fromHost().isEmpty()
                                && (!matchesTarget(line, other) || prefix(text(line, "prefix"), other) == null));
    }

    /** Returns true if the line only prevents storing. Applying such a line to too many hosts is safe. */
    static boolean isNeverCached(DraftNode line) {
        return text(line, "action").equals("never_cache");
    }

    private static DraftNode copy(DraftNode line, RemapRule rule, String prefix) {
        DraftNode copy = new DraftNode();
        boolean isAnyHost = rule.fromHost().isEmpty();
        copy.put(
                isAnyHost ? "dest_domain" : rule.isExpression() ? "host_regex" : "dest_host",
                isAnyHost ? "." : rule.isExpression() ? "^(?:" + rule.fromHost() + ")$" : rule.fromHost());
        if (!prefix.equals("/")) {
            copy.put("prefix", prefix);
        }
        line.fields().forEach((name, field) -> {
            if (!CONDITIONS.contains(name)) {
                copy.fields().put(name, field.copy());
            }
        });
        return copy;
    }

    private static String hosts(RemapRule rule) {
        return (rule.isExpression() ? "~" : "") + rule.fromHost();
    }

    private static boolean matchesTarget(DraftNode line, RemapRule rule) {
        String host = rule.toHost();
        String domain = text(line, "dest_domain");
        String exact = text(line, "dest_host");
        String regex = text(line, "host_regex");
        String port = text(line, "port");
        String scheme = text(line, "scheme");
        String name = (domain.startsWith(".") ? domain.substring(1) : domain).toLowerCase(Locale.ROOT);
        return (name.isEmpty() || host.equals(name) || host.endsWith("." + name))
                && (exact.isEmpty() || host.equalsIgnoreCase(exact))
                && (regex.isEmpty() || finds(regex, host))
                && (port.isEmpty() || port.equals(rule.toPort()))
                && (scheme.isEmpty() || scheme.equals("https") == rule.isToSecure());
    }

    private static boolean finds(String regex, String host) {
        try {
            return Regex.compile(regex, Pattern.CASE_INSENSITIVE).matcher(host).find();
        } catch (PatternSyntaxException e) {
            return true;
        }
    }

    /**
     * Converts a prefix of the target path to a prefix of the client's path. Returns null if no target path of the rule
     * begins with it.
     */
    private static @Nullable String prefix(String targetPrefix, RemapRule rule) {
        String from = rule.fromPath();
        String to = rule.toPath();
        if (to.startsWith(targetPrefix)) {
            return from;
        }
        if (!targetPrefix.startsWith(to)) {
            return null;
        }
        String remainder = targetPrefix.substring(to.length());
        return from.endsWith("/") && remainder.startsWith("/")
                ? from + remainder.substring(1)
                : from.endsWith("/") || remainder.startsWith("/") ? from + remainder : from + "/" + remainder;
    }

    private static boolean keepsUrl(RemapRule rule) {
        return !rule.isExpression()
                && rule.fromHost().equals(rule.toHost())
                && rule.fromPath().equals(rule.toPath());
    }

    private static String text(DraftNode line, String name) {
        DraftNode field = line.field(name);
        String text = field == null ? null : field.text();
        return text == null ? "" : text;
    }
}
