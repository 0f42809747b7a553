"""The forms of tax and national ids, without separators: what looks otherwise need not be checked.

They were read in the modules of `stdnum`, which check an id in some microseconds each. A kind that is not listed may
have any form. Forms tell all digits alike.
"""

FORMS = {
    "at.tin": r"\d{9}",
    "at.uid": r"(?:AT)?U\d{8}",
    "at.vnr": r"\d{10}",
    "de.idnr": r"\d{11}",
    "de.stnr": r"\d{10,11}|\d{13}",
    "de.vat": r"(?:DE)?\d{9}",
    "de.wkn": r"[A-Z\d]{6}",
    "es.dni": r"\d{8}[A-Z]",
    "es.nie": r"[XYZ]\d{7}[A-Z]",
    "es.nif": r"(?:ES)?[A-Z\d]\d{7}[A-Z\d]",
    "fr.nif": r"\d{13}",
    "fr.nir": r"\d{5}(?:\d\d|\dA|\dB)\d{8}",
    "fr.tva": r"(?:FR)?[A-Z\d]{2}\d{9}",
    "gb.nhs": r"\d{10}",
    "gb.upn": r"[A-Z]\d{11}[A-Z\d]",
    "gb.utr": r"K*\d{10}",
    "gb.vat": r"(?:GB|XI)?(?:\d{9}|\d{12}|(?:GD|HA)(?:\d{3}|\d{9}))",
    "it.codicefiscale": r"\d{11}|[A-Z]{6}[A-Z\d]{2}[A-Z][A-Z\d]{2}[A-Z][A-Z\d]{3}[A-Z]",
    "it.iva": r"(?:IT)?\d{11}",
    "pt.cc": r"\d{9}[A-Z\d]{2}\d",
    "us.atin": r"\d{9}",
    "us.itin": r"\d{9}",
    "us.ssn": r"\d{9}",
    "us.tin": r"\d{9}|P\d{8}",
}
