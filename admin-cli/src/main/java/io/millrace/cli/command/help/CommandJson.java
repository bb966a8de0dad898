package io.millrace.cli.command.help;

import io.millrace.cli.client.JsonTree;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Describes a command with its parameters, options and subcommands as JSON. Stateless. */
final class CommandJson {
    private CommandJson() {}

    /** Returns {@code {"command","description","parameters":[...],"options":[...],"commands":[...]}}. */
    static byte[] of(CommandSpec spec) {
        List<CommandSpec> subcommands = new ArrayList<>();
        for (CommandLine command : spec.subcommands().values()) {
            subcommands.add(command.getCommandSpec());
        }
        return JsonTree.object(json -> json.text("command", spec.qualifiedName())
                .text("description", String.join(" ", spec.usageMessage().description()))
                .array("parameters", spec.positionalParameters(), (one, parameter) -> one.text(
                                "name", parameter.paramLabel())
                        .number("min", parameter.arity().min())
                        .bool("repeatable", parameter.arity().max() > 1)
                        .text("description", String.join(" ", parameter.description())))
                .array("options", spec.options(), CommandJson::option)
                .array("commands", subcommands, (one, command) -> one.text("name", command.name())
                        .text("description", command.usageMessage().description()[0])));
    }

    private static void option(JsonTree json, OptionSpec option) {
        json.texts("names", List.of(option.names()))
                .text("value", option.arity().max() > 0 ? option.paramLabel() : null)
                .bool("repeatable", option.isMultiValue())
                .bool("inherited", option.inherited() || option.scopeType() == CommandLine.ScopeType.INHERIT)
                .text("description", String.join(" ", option.description()));
    }
}
