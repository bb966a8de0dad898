package io.millrace.cli.command.help;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Generates manual pages in the roff format of {@code man(1)} from the definition of the commands. There is a page for
 * the program, and a page for each top-level command. Confined to one thread.
 */
public final class ManualPages {
    private final CommandSpec root;
    private final Map<String, String> exits;
    private final Map<String, String> variables;
    private List<String> lines = new ArrayList<>();

    private ManualPages(CommandLine root, Map<String, String> exits, Map<String, String> variables) {
        this.root = root.getCommandSpec();
        this.exits = exits;
        this.variables = variables;
    }

    /**
     * Returns the lines of each page, by the name of the page without its section, such as {@code millctl-config}.
     *
     * @param exits meaning of each exit code that all commands have in common
     * @param variables meaning of each environment variable of the program
     */
    public static Map<String, List<String>> of(
            CommandLine root, Map<String, String> exits, Map<String, String> variables) {
        ManualPages manual = new ManualPages(root, exits, variables);
        Map<String, List<String>> pages = new LinkedHashMap<>();
        pages.put(manual.root.name(), manual.programPage());
        manual.root
                .subcommands()
                .forEach((name, command) ->
                        pages.put(manual.root.name() + "-" + name, manual.commandPage(command.getCommandSpec())));
        return pages;
    }

    /** Returns the pages of {@code millctl}. */
    public static Map<String, List<String>> ofMillctl(CommandLine root) {
        Map<String, String> exits = new LinkedHashMap<>();
        exits.put("0", "Done.");
        exits.put("1", "The operation failed.");
        exits.put("2", "Wrong arguments, or a configuration with problems.");
        exits.put("3", "No running Millrace was reached.");
        exits.put("75", "A change was requested, but its result is unknown.");
        exits.put("130", "Interrupted.");
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("MILLRACE_ADMIN", "The instance to manage, in the form of --admin.");
        variables.put("MILLRACE_ADMIN_TOKEN", "The token, if --token-file is not given.");
        variables.put("MILLRACE_ADMIN_CA", "The authorities, if --ca-file is not given.");
        variables.put("MILLRACE_ADMIN_CERTIFICATE", "The client's certificate, if --client-certificate is not given.");
        variables.put("MILLRACE_ADMIN_KEY", "The client's private key, if --client-key is not given.");
        variables.put("XDG_STATE_HOME", "Directory to search for running instances, instead of ~/.local/state.");
        variables.put("NO_COLOR", "Turns colours off if it is set.");
        return of(root, exits, variables);
    }

    private List<String> programPage() {
        begin(root);
        section("SYNOPSIS");
        bold(root.name() + " COMMAND [OPTIONS]");
        section("DESCRIPTION");
        text(String.join(" ", root.usageMessage().description()));
        footer(root);
        section("OPTIONS");
        if (hasInheritedOptions()) {
            text("Every command accepts these options, before or after its name.");
        }
        options(root);
        section("COMMANDS");
        summaries(root);
        entries("EXIT STATUS", exits);
        entries("ENVIRONMENT", variables);
        List<String> others = new ArrayList<>();
        root.subcommands().keySet().forEach(name -> others.add(root.name() + "-" + name));
        seeAlso(others);
        return lines;
    }

    /** Returns true if the program has options that all its commands accept. */
    private boolean hasInheritedOptions() {
        for (OptionSpec option : root.options()) {
            if (option.scopeType() == CommandLine.ScopeType.INHERIT) {
                return true;
            }
        }
        return false;
    }

    /** Writes a summary of every command below {@code above}. A command without an action of its own is left out. */
    private void summaries(CommandSpec above) {
        for (CommandLine command : above.subcommands().values()) {
            CommandSpec spec = command.getCommandSpec();
            if (isRunnable(spec)) {
                item(synopsis(spec), summary(spec));
            }
            summaries(spec);
        }
    }

    private List<String> commandPage(CommandSpec spec) {
        begin(spec);
        section("SYNOPSIS");
        List<CommandSpec> commands = new ArrayList<>();
        collect(spec, commands);
        for (int i = 0; i < commands.size(); i++) {
            if (i > 0) {
                lines.add(".br");
            }
            bold(synopsis(commands.get(i)) + " [OPTIONS]");
        }
        section("DESCRIPTION");
        if (spec.subcommands().isEmpty()) {
            command(spec);
        } else {
            text(String.join(" ", spec.usageMessage().description()));
            section("COMMANDS");
            for (CommandSpec command : commands) {
                lines.add(".SS " + quoted(synopsis(command)));
                command(command);
            }
        }
        seeAlso(List.of(root.name()));
        return lines;
    }

    private void command(CommandSpec spec) {
        text(String.join(" ", spec.usageMessage().description()));
        for (PositionalParamSpec parameter : spec.positionalParameters()) {
            item(parameter.paramLabel(), parameter.description());
        }
        options(spec);
        footer(spec);
        Map<String, String> own = spec.usageMessage().exitCodeList();
        if (!own.isEmpty()) {
            lines.add(".PP");
            text("Exit codes:");
            own.forEach(this::item);
        }
    }

    /** Returns true if a command can run without a subcommand, so that it is more than a group. */
    private static boolean isRunnable(CommandSpec spec) {
        return spec.subcommands().isEmpty() || !spec.positionalParameters().isEmpty();
    }

    private static void collect(CommandSpec spec, List<CommandSpec> into) {
        if (isRunnable(spec)) {
            into.add(spec);
        }
        spec.subcommands().values().forEach(below -> collect(below.getCommandSpec(), into));
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

    private static String summary(CommandSpec spec) {
        return spec.usageMessage().description()[0];
    }

    /** Writes the options of a command. The page of the program documents the inherited options. */
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

    /** Writes the footer of the help text line by line, since it contains aligned examples. */
    private void footer(CommandSpec spec) {
        UsageMessageSpec usage = spec.usageMessage();
        if (usage.footer().length == 0) {
            return;
        }
        lines.add(".PP");
        lines.add(".nf");
        for (String line : usage.footer()) {
            if (!line.isEmpty()) {
                text(line);
            }
        }
        lines.add(".fi");
    }

    private void entries(String title, Map<String, String> meanings) {
        if (!meanings.isEmpty()) {
            section(title);
            meanings.forEach(this::item);
        }
    }

    private void begin(CommandSpec spec) {
        lines = new ArrayList<>();
        String pageName = spec.qualifiedName("-");
        lines.add(".\\\" Made from the commands themselves.");
        lines.add(".TH " + quoted(pageName.toUpperCase(Locale.ROOT)) + " 1 \"\" \"Millrace\" \"Millrace\"");
        section("NAME");
        String summary = summary(spec);
        text(pageName + " - " + summary.substring(0, 1).toLowerCase(Locale.ROOT)
                + summary.substring(1, summary.length() - 1));
    }

    private void seeAlso(List<String> pages) {
        section("SEE ALSO");
        for (int i = 0; i < pages.size(); i++) {
            lines.add(".BR " + escaped(pages.get(i)) + " (1)" + (i < pages.size() - 1 ? "," : ""));
        }
    }

    private void item(String name, String... description) {
        lines.add(".TP");
        bold(name);
        text(String.join(" ", description));
    }

    private void bold(String text) {
        lines.add(".B " + quoted(text));
    }

    private void section(String name) {
        lines.add(".SH " + quoted(name));
    }

    private void text(String text) {
        String safe = escaped(text);
        lines.add(safe.startsWith(".") || safe.startsWith("'") ? "\\&" + safe : safe);
    }

    private static String quoted(String text) {
        return '"' + escaped(text) + '"';
    }

    /** Escapes backslashes, hyphens, quotes and accents, which are special in roff. */
    private static String escaped(String text) {
        return text.replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("\"", "\\(dq")
                .replace("'", "\\(aq")
                .replace("^", "\\(ha")
                .replace("~", "\\(ti")
                .replace("`", "\\(ga");
    }
}
