package io.millrace.cli.command;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The commands as a page of {@code man(1)}, in its macros. Confined to one thread. */
final class ManualPage {
    private final List<String> lines = new ArrayList<>();
    private final CommandSpec root;

    private ManualPage(CommandSpec root) {
        this.root = root;
    }

    /** The page of a whole command line. */
    static List<String> of(CommandLine commands) {
        return new ManualPage(commands.getCommandSpec()).page();
    }

    private List<String> page() {
        lines.add(".TH MILLCTL 1 \"\" \"Millrace\" \"Millrace\"");
        section("NAME");
        text("millctl - looks after a running Millrace");
        section("SYNOPSIS");
        text("millctl COMMAND [OPTIONS]");
        section("DESCRIPTION");
        text(
                "Speaks the admin API of a running Millrace, over its Unix socket or over TCP. Without --admin and MILLRACE_ADMIN the"
                        + " only instance is asked that runs on this machine.");
        section("OPTIONS");
        text("Every command takes them, before or after its name.");
        options(root);
        section("COMMANDS");
        commands(root);
        section("EXIT STATUS");
        exit("0", "Done.");
        exit("1", "The operation failed.");
        exit("2", "Wrong arguments, or a configuration with problems.");
        exit("3", "No running Millrace was reached.");
        exit("75", "A change was asked for and is not known to be finished.");
        exit("130", "Interrupted.");
        section("ENVIRONMENT");
        exit("MILLRACE_ADMIN", "As --admin.");
        exit("MILLRACE_ADMIN_TOKEN", "The token, where there is no --token-file.");
        exit("NO_COLOR", "Nothing is coloured where it is set.");
        return List.copyOf(lines);
    }

    private void commands(CommandSpec above) {
        for (CommandLine command : above.subcommands().values()) {
            CommandSpec spec = command.getCommandSpec();
            if (!spec.subcommands().isEmpty()) {
                commands(spec);
                continue;
            }
            lines.add(".SS \"" + escaped(synopsis(spec)) + "\"");
            text(String.join(" ", spec.usageMessage().description()));
            for (PositionalParamSpec parameter : spec.positionalParameters()) {
                item(parameter.paramLabel(), parameter.description());
            }
            options(spec);
        }
    }

    private static String synopsis(CommandSpec spec) {
        StringBuilder synopsis = new StringBuilder(spec.qualifiedName());
        for (PositionalParamSpec parameter : spec.positionalParameters()) {
            boolean optional = parameter.arity().min() == 0;
            synopsis.append(optional ? " [" : " ")
                    .append(parameter.paramLabel())
                    .append(parameter.arity().max() > 1 ? "..." : "")
                    .append(optional ? "]" : "");
        }
        return synopsis.toString();
    }

    /** Those of the command itself; what all inherit stands once. */
    private void options(CommandSpec spec) {
        for (OptionSpec option : spec.options()) {
            if (!option.inherited()) {
                boolean valued = option.arity().max() > 0;
                item(
                        String.join(", ", option.names()) + (valued ? " " + option.paramLabel() : ""),
                        option.description());
            }
        }
    }

    private void exit(String name, String meaning) {
        item(name, meaning);
    }

    private void item(String name, String... description) {
        lines.add(".TP");
        lines.add(".B " + escaped(name));
        text(String.join(" ", description));
    }

    private void section(String name) {
        lines.add(".SH " + name);
    }

    private void text(String text) {
        lines.add(escaped(text));
    }

    /** A backslash and a hyphen mean something to roff, as does a point or a quote that begins a line. */
    private static String escaped(String text) {
        String safe = text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
        return safe.startsWith(".") || safe.startsWith("'") ? "\\&" + safe : safe;
    }
}
