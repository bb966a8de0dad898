package io.millrace.cli.command;

import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The format in which a command prints its result ({@code -o}). */
enum OutputFormat {
    /** Lines of text for a person. */
    TABLE,
    /** JSON, for most commands the unchanged response of the admin API. */
    JSON;

    /** The values of the option, for shell completion. */
    static final class Words implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("table", "json").iterator();
        }
    }

    /** Converts the value of the option. */
    static final class Converter implements ITypeConverter<OutputFormat> {
        @Override
        public OutputFormat convert(String value) {
            return switch (value) {
                case "table" -> TABLE;
                case "json" -> JSON;
                default ->
                    throw new TypeConversionException(
                            "'" + value + "' is not an output format: expected table or json");
            };
        }
    }
}
