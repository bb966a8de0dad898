package io.millrace.cli.command;

import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How a command shows its result. */
enum OutputFormat {
    /** Lines for people. */
    TABLE,
    /** The admin API's JSON, for programs. */
    JSON;

    /** What a shell offers. */
    static final class Words implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("table", "json").iterator();
        }
    }

    static final class Converter implements ITypeConverter<OutputFormat> {
        @Override
        public OutputFormat convert(String value) {
            return switch (value) {
                case "table" -> TABLE;
                case "json" -> JSON;
                default -> throw new TypeConversionException("'" + value + "' is neither table nor json");
            };
        }
    }
}
