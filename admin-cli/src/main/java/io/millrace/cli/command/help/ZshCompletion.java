package io.millrace.cli.command.help;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Generates the completion script of a program for zsh. The script has a function for every command, which calls
 * {@code _arguments} of zsh. Confined to one thread.
 */
public final class ZshCompletion {
    /** The zsh action that completes a value, by the label of the value in the help. Other values are not completed. */
    private static final Map<String, String> ACTIONS = Map.of(
            "FILE", "_files",
            "DIR", "_files -/",
            "PATH", "_files",
            "PATH|URL", "_files",
            "FORMAT", "(table json)",
            "SHELL", "(bash zsh)");

    private final List<String> lines = new ArrayList<>();
    private final CommandSpec root;
    private final String inherited;

    private ZshCompletion(CommandSpec root) {
        this.root = root;
        inherited = name(root) + "_everywhere";
    }

    /**
     * Returns the script. zsh loads it from a file that is named after the program with an underscore before it. A user
     * may also load it with {@code source}.
     */
    public static String of(CommandLine root) {
        return String.join("\n", new ZshCompletion(root.getCommandSpec()).script());
    }

    private List<String> script() {
        lines.add("#compdef " + root.name());
        lines.add("# Made from the commands themselves.");
        lines.add("");
        lines.add("typeset -ga " + inherited + "=(");
        for (OptionSpec option : root.options()) {
            if (isInherited(option)) {
                option(option);
            }
        }
        lines.add(")");
        function(root);
        String function = name(root);
        lines.add("");
        lines.add("if [[ $funcstack[1] == " + function + " ]]; then");
        lines.add("    " + function + " \"$@\"");
        lines.add("else");
        lines.add("    compdef " + function + " " + root.name());
        lines.add("fi");
        return lines;
    }

    /** Returns true if every command accepts the option. */
    private static boolean isInherited(OptionSpec option) {
        return option.scopeType() == CommandLine.ScopeType.INHERIT;
    }

    private static String name(CommandSpec spec) {
        return "_" + spec.qualifiedName("_").replace('-', '_');
    }

    private void function(CommandSpec spec) {
        spec.subcommands().values().forEach(below -> function(below.getCommandSpec()));
        boolean isGroup = !spec.subcommands().isEmpty();
        lines.add("");
        lines.add(name(spec) + "() {");
        if (isGroup) {
            lines.add("    local context state state_descr line");
            lines.add("    typeset -A opt_args");
        }
        lines.add("    local -a its_own=(");
        for (OptionSpec option : spec.options()) {
            if (!isInherited(option)) {
                option(option);
            }
        }
        if (isGroup) {
            lines.add("        '1: :->command'");
            lines.add("        '*:: :->rest'");
        } else {
            spec.positionalParameters().forEach(this::parameter);
        }
        lines.add("    )");
        lines.add("    _arguments -s" + (isGroup ? " -C" : "") + " $" + inherited + " $its_own");
        if (isGroup) {
            commands(spec);
        }
        lines.add("}");
    }

    private void commands(CommandSpec spec) {
        lines.add("    case $state in");
        lines.add("    command)");
        lines.add("        local -a commands=(");
        spec.subcommands()
                .forEach((name, command) -> lines.add("            "
                        + quoted(name + ":"
                                + command.getCommandSpec().usageMessage().description()[0])));
        lines.add("        )");
        lines.add("        _describe -t commands 'command' commands");
        lines.add("        ;;");
        lines.add("    rest)");
        lines.add("        curcontext=\"${curcontext%:*}-$words[1]:\"");
        lines.add("        case $words[1] in");
        spec.subcommands()
                .forEach((name, command) ->
                        lines.add("        " + name + ") " + name(command.getCommandSpec()) + " ;;"));
        lines.add("        esac");
        lines.add("        ;;");
        lines.add("    esac");
    }

    private void option(OptionSpec option) {
        boolean isRepeatable = option.isMultiValue();
        String others = isRepeatable ? "*" : "(" + String.join(" ", option.names()) + ")";
        String rest = "[" + explanation(option) + "]" + value(option);
        for (String name : option.names()) {
            // In zsh, "=" means that the value follows an equals sign or a space. "+" means that it follows directly
            // or after a space.
            String form = option.arity().max() == 0 ? "" : name.startsWith("--") ? "=" : "+";
            lines.add("        " + quoted(others + name + form + rest));
        }
    }

    private static String value(OptionSpec option) {
        if (option.arity().max() == 0) {
            return "";
        }
        return (option.arity().min() == 0 ? "::" : ":") + label(option) + ":" + action(option);
    }

    private void parameter(PositionalParamSpec parameter) {
        String place = parameter.arity().max() > 1
                ? "*:"
                : parameter.index().min() + 1 + (parameter.arity().min() == 0 ? "::" : ":");
        lines.add("        " + quoted(place + label(parameter) + ":" + action(parameter)));
    }

    private static String label(ArgSpec argument) {
        return argument.paramLabel().replace(":", "\\:");
    }

    private static String action(ArgSpec argument) {
        return ACTIONS.getOrDefault(argument.paramLabel(), " ");
    }

    /** Returns the description of an option. Square brackets are replaced, since "]" would end it. */
    private static String explanation(OptionSpec option) {
        return String.join(" ", option.description()).replace('[', '(').replace(']', ')');
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
