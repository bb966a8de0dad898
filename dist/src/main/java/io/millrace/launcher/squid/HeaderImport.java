package io.millrace.launcher.squid;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.squid.Acls.Acl;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The translator of Squid's directives that change header fields. They become elements of {@code rules}. Confined to
 * one thread.
 */
final class HeaderImport {
    private static final String FIELD_NAME = "write a rule by hand: the importer cannot write this field name";
    private static final String QUOTE = "the value begins with a quotation mark and does not end with one";

    private final DraftNode root;
    private final Acls acls;
    /** Conditions under which a field is removed, by direction and name in lower case; empty for all messages. */
    private final Map<String, List<String>> removed = new LinkedHashMap<>();

    HeaderImport(DraftNode root, Acls acls) {
        this.root = root;
        this.acls = acls;
    }

    /** Translates the directives in the order in which Squid applies them. */
    void read(List<SquidLine> lines) {
        Map<String, List<SquidLine>> access = new LinkedHashMap<>();
        for (SquidLine line : lines) {
            if (line.name().matches("(request|reply)_header_access")) {
                String key = direction(line) + " " + line.arg(0).toLowerCase(Locale.ROOT);
                access.computeIfAbsent(key, name -> new ArrayList<>()).add(line);
            } else if (line.name().equals("header_access")) {
                line.notMapped("Squid 3 and later have request_header_access and reply_header_access instead");
            }
        }
        access.forEach(this::translateAccess);
        for (SquidLine line : lines) {
            if (line.name().matches("(request_|reply_)?header_replace")) {
                writeReplacement(line);
            }
        }
        for (SquidLine line : lines) {
            if (line.name().matches("(request|reply)_header_add")) {
                writeAddition(line);
            }
        }
    }

    private static String direction(SquidLine line) {
        return line.name().startsWith("reply") ? "response_header" : "request_header";
    }

    private void translateAccess(String key, List<SquidLine> lines) {
        boolean decided = false;
        boolean allows = false;
        for (SquidLine line : lines) {
            String name = line.arg(0);
            boolean all = line.argsFrom(2).equals(List.of("all"));
            if (decided) {
                line.note("an earlier line decides for all messages");
            } else if (line.arg(1).equals("allow") && all && !allows) {
                line.note("fields are passed on by default");
                decided = true;
            } else if (allows) {
                line.notMapped("an earlier line with allow and a list has no equivalent, so that this line is not"
                        + " translated; write a rule with when and remove_" + direction(line));
            } else if (line.arg(1).equals("allow")) {
                line.notMapped("a line with allow and a list has no equivalent; write a rule with when and remove_"
                        + direction(line));
                allows = true;
            } else if (name.equalsIgnoreCase("All") || name.equalsIgnoreCase("Other")) {
                line.notMapped("rules remove fields by name; write a rule with remove_" + direction(line));
            } else if (!RuleTexts.isFieldName(name)) {
                line.notMapped(FIELD_NAME);
            } else {
                writeRemoval(line, key);
                decided = all;
            }
        }
        boolean endsWithDeny = lines.get(lines.size() - 1).arg(1).equals("deny");
        if (!decided && !endsWithDeny && !allows) {
            lines.get(0).notMapped("Squid's default is the opposite of the last line; write a rule by hand");
        }
    }

    private void writeRemoval(SquidLine line, String key) {
        DraftNode rule = addRule(line, line.argsFrom(2));
        if (rule != null) {
            DraftNode when = rule.field("when");
            rule.putWords("remove_" + direction(line), List.of(line.arg(0)));
            removed.computeIfAbsent(key, name -> new ArrayList<>())
                    .add(when == null ? "" : String.valueOf(when.text()));
        }
    }

    /** Writes the value that replaces a field which another directive removes. */
    private void writeReplacement(SquidLine line) {
        String name = line.arg(0);
        FieldValue parsed = FieldValue.of(line.argsFrom(1));
        List<String> conditions = removed.get(direction(line) + " " + name.toLowerCase(Locale.ROOT));
        if (!RuleTexts.isFieldName(name)) {
            line.notMapped(FIELD_NAME);
            return;
        }
        if (conditions == null) {
            line.note("no imported line removes the field, so that its value is not replaced");
            return;
        }
        if (parsed == null) {
            line.notMapped(QUOTE);
            return;
        }
        String value = parsed.isQuoted() ? parsed.text() : String.join(" ", line.argsFrom(1));
        boolean reply = direction(line).equals("response_header");
        for (String condition : conditions) {
            DraftNode rule = root.addElement("rules").removableIfInvalid().from(line.markHandled());
            String exists = reply ? "response_header[" + RuleTexts.literal(name) + "] =~ \"\"" : "";
            String when = condition.isEmpty() || exists.isEmpty() ? condition + exists : condition + " && " + exists;
            if (!when.isEmpty()) {
                rule.put("when", when);
            }
            rule.put("set_" + direction(line) + "." + name, value);
        }
        if (!reply) {
            line.notMapped("requests without the field get it too; remove the rule if this is wrong");
        }
    }

    private void writeAddition(SquidLine line) {
        String name = line.arg(0);
        FieldValue value = FieldValue.of(line.argsFrom(1));
        if (!RuleTexts.isFieldName(name)) {
            line.notMapped(FIELD_NAME);
        } else if (value == null) {
            line.notMapped(QUOTE);
        } else if (value.text().contains("%")) {
            line.notMapped(RuleTexts.CONSTANT);
        } else {
            DraftNode rule = addRule(line, line.argsFrom(1 + value.words()));
            if (rule != null) {
                rule.put("add_" + direction(line) + "." + name, value.text());
            }
        }
    }

    /**
     * Adds a rule for the messages that match all lists. If a list is unknown or has no equivalent, adds a note and
     * returns null.
     */
    private @Nullable DraftNode addRule(SquidLine line, List<String> names) {
        List<String> parts = new ArrayList<>();
        Set<Acl> used = new HashSet<>();
        for (String name : names) {
            Acl acl = acls.find(name);
            String text = acl == null ? null : condition(acls, acl);
            if (acl == null || text == null) {
                line.notMapped(
                        acl == null
                                ? "no list is named '" + name + "'"
                                : "conditions of rules have no equivalent to a list of type " + acl.type()
                                        + "; write a rule by hand");
                return null;
            }
            if (text.isEmpty() && name.startsWith("!")) {
                line.note("no message meets the condition");
                return null;
            }
            if (!text.isEmpty()) {
                parts.add(name.startsWith("!") ? "!(" + text + ")" : text);
            }
            used.add(acl);
        }
        used.forEach(acl -> acl.recordKey("rules"));
        DraftNode rule = root.addElement("rules").removableIfInvalid().from(line.markHandled());
        if (!parts.isEmpty()) {
            rule.put("when", String.join(" && ", parts));
        }
        return rule;
    }

    /** Returns the condition for a list; empty if all requests match. Returns null if there is no equivalent. */
    static @Nullable String condition(Acls acls, Acl acl) {
        if (!acl.isComplete()) {
            return null;
        }
        return switch (acl.type()) {
            case "src" -> {
                List<String> addresses = acls.connectionAddresses(acl);
                yield addresses == null ? null : addresses.contains("all") ? "" : isIn("client", addresses);
            }
            case "method" -> isIn("method", acl.values());
            case "proto" ->
                isIn(
                        "scheme",
                        acl.values().stream()
                                .map(each -> each.toLowerCase(Locale.ROOT))
                                .toList());
            case "dstdomain" ->
                joinByOr(acl.values().stream().map(HeaderImport::host).toList());
            case "port" ->
                acl.values().stream().allMatch(each -> each.matches("\\d{1,5}"))
                        ? "port in (" + String.join(", ", acl.values()) + ")"
                        : null;
            case "http_status" ->
                acl.values().stream().allMatch(each -> each.matches("[1-5]\\d\\d"))
                        ? "status in (" + String.join(", ", acl.values()) + ")"
                        : null;
            case "browser" -> matchesAny("request_header[\"User-Agent\"]", acl.values());
            case "referer_regex" -> matchesAny("request_header[\"Referer\"]", acl.values());
            case "dstdom_regex" -> matchesAny("host", acl.values());
            case "url_regex" ->
                anyOrNull(acl.values().stream().map(UrlCondition::of).toList());
            case "urlpath_regex" ->
                anyOrNull(acl.values().stream().map(UrlCondition::ofPath).toList());
            default -> null;
        };
    }

    private static String matchesAny(String field, List<String> expressions) {
        return joinByOr(expressions.stream()
                .map(each -> field + " =~ " + RuleTexts.literal(each))
                .toList());
    }

    /** Returns the condition that any of the parts is true. Returns null if one of them is null. */
    private static @Nullable String anyOrNull(List<@Nullable String> parts) {
        List<String> texts = new ArrayList<>();
        for (String part : parts) {
            if (part == null) {
                return null;
            }
            texts.add(part);
        }
        return joinByOr(texts);
    }

    private static String host(String domain) {
        String name = domain.toLowerCase(Locale.ROOT);
        if (!name.startsWith(".")) {
            return "host == " + RuleTexts.literal(name);
        }
        return "host =~ " + RuleTexts.literal("(^|\\.)" + name.substring(1).replace(".", "\\.") + "$");
    }

    private static String isIn(String field, List<String> values) {
        return values.stream().map(RuleTexts::literal).collect(Collectors.joining(", ", field + " in (", ")"));
    }

    private static String joinByOr(List<String> parts) {
        return parts.size() == 1 ? parts.get(0) : "(" + String.join(" || ", parts) + ")";
    }
}
