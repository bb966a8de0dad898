package io.millrace.proxy.config.value;

import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Replaces <code>${NAME}</code> and <code>${NAME:default}</code> in scalar values by environment variables. Applied
 * after the file was parsed, so the value of a variable is never read as YAML. <code>$${</code> is an escaped
 * <code>${</code>.
 *
 * <p>A fleet is a group of proxies (nodes) that share purges and optionally a configuration. In its configuration,
 * <code>${fleet.node}</code> and <code>${fleet.tier}</code> are the names of the node and of its tier (a named subset
 * of the nodes).
 */
public final class Environment {
    private static final Pattern REFERENCE = Pattern.compile("\\$?\\$\\{([^}]*)(}?)");
    private static final Pattern NAME =
            Pattern.compile("(fleet\\.node|fleet\\.tier|[A-Za-z_][A-Za-z0-9_]*)(?::(.*))?", Pattern.DOTALL);

    private final Function<String, @Nullable String> variables;

    public Environment(Function<String, @Nullable String> variables) {
        this.variables = variables;
    }

    public static Environment ofProcess() {
        return new Environment(System::getenv);
    }

    /** Returns these variables together with the names of a node of a fleet and of its tier. */
    public Environment ofNode(String node, String tier) {
        return new Environment(name -> switch (name) {
            case "fleet.node" -> node;
            case "fleet.tier" -> tier;
            default -> variables.apply(name);
        });
    }

    /**
     * Replaces the references in a text.
     *
     * @param used receives the name of each variable whose value is used; not called for an unset variable with a
     *     default
     */
    public String expand(String text, Consumer<String> used) throws InvalidValueException {
        if (text.indexOf("${") < 0) {
            return text;
        }
        Matcher matcher = REFERENCE.matcher(text);
        StringBuilder expanded = new StringBuilder();
        int end = 0;
        while (matcher.find(end)) {
            expanded.append(text, end, matcher.start());
            if (matcher.group().startsWith("$$")) {
                expanded.append("${");
                end = matcher.start() + 3;
            } else {
                expanded.append(value(matcher, text, used));
                end = matcher.end();
            }
        }
        return expanded.append(text, end, text.length()).toString();
    }

    private String value(Matcher matcher, String text, Consumer<String> used) throws InvalidValueException {
        if (matcher.group(2).isEmpty()) {
            throw new InvalidValueException("'" + text + "' has ${ without }");
        }
        Matcher name = NAME.matcher(matcher.group(1));
        if (!name.matches()) {
            throw new InvalidValueException("'" + matcher.group() + "' is not of the form ${NAME} or ${NAME:default}");
        }
        String value = variables.apply(name.group(1));
        if (value != null) {
            used.accept(name.group(1));
        } else {
            value = name.group(2);
        }
        if (value == null) {
            if (name.group(1).startsWith("fleet.")) {
                throw new InvalidValueException(
                        "${" + name.group(1) + "} has a value only in the configuration that fleet config push sends");
            }
            throw new InvalidValueException("the environment variable " + name.group(1) + " is not set, and ${"
                    + name.group(1) + "} has no default");
        }
        return value;
    }
}
