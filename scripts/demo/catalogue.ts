import { table, texts } from "./words.ts"

// What the invented bakery sells to its branches: the words of its shop.

/** What is baked and poured, and who advertises it only in a season. */
export const subjects = table(`
  croissant | croissant | croissant | Croissant | croissant
  baguette | stokbrood | baguette | Baguette | baguette
  bread | brood | bread | Brot | pain
  pretzel | pretzel | pretzel | Brezel | bretzel
  bagel | bagel | bagel | Bagel | bagel
  pancakes | pannenkoeken | pancakes | Pfannkuchen | pancakes
  waffle | wafel | waffle | Waffel | gaufre
  sandwich | sandwich | sandwich | Sandwich | sandwich
  doughnut | donut | doughnut | Donut | doughnut
  cookie | koekje | cookie | Keks | cookie
  birthday-cake | verjaardagstaart | birthday cake | Geburtstagskuchen | gâteau d’anniversaire
  cake | gebakje | slice of cake | Tortenstück | part de gâteau
  cupcake | cupcake | cupcake | Cupcake | cupcake
  pie | taart | pie | Pastete | tarte | autumn
  ice-cream | ijs | ice cream | Eiscreme | glace | summer
  soft-ice | softijs | soft ice cream | Softeis | glace italienne | summer
  chocolate | chocoladereep | chocolate bar | Schokoladentafel | tablette de chocolat | christmas
  coffee | koffie | coffee | Kaffee | café
  tea | kop thee | cup of tea | Tasse Tee | tasse de thé | autumn
  soft-drink | frisdrank | soft drink | Limonade | soda | summer
  juice | pakje sap | juice carton | Saftpäckchen | briquette de jus
  pizza | pizzapunt | pizza | Pizza | pizza
  breakfast | ontbijtkom | breakfast bowl | Frühstücksschale | bol de céréales | spring
  salad | groene salade | green salad | grüner Salat | salade verte | spring
`)

/** What is made of each of them, with its size in millimetres, or in pixels for a screen, and its price in cents. */
export const media = table(`
  poster-a3 | Affiche A3 | A3 poster | Plakat A3 | Affiche A3 | paper | 297 | 420 | 195
  poster-a2 | Affiche A2 | A2 poster | Plakat A2 | Affiche A2 | paper | 420 | 594 | 350
  poster-a1 | Affiche A1 | A1 poster | Plakat A1 | Affiche A1 | paper | 594 | 841 | 690
  flyer-a5 | Flyer A5 | A5 flyer | Flyer A5 | Dépliant A5 | paper | 148 | 210 | 12
  flyer-a6 | Flyer A6 | A6 flyer | Flyer A6 | Dépliant A6 | paper | 105 | 148 | 8
  sticker | Raamsticker | Window sticker | Fensteraufkleber | Autocollant de vitrine | paper | 600 | 600 | 1450
  price-card | Prijskaart | Price card | Preisschild | Étiquette de prix | paper | 90 | 60 | 35
  menu | Menukaart | Menu card | Speisekarte | Carte de menu | paper | 148 | 297 | 240
  table-tent | Tafelkaart | Table tent | Tischaufsteller | Chevalet de table | paper | 105 | 210 | 95
  wobbler | Schapwobbler | Shelf wobbler | Regalwobbler | Stop-rayon | paper | 80 | 80 | 60
  roll-up | Roll-upbanner | Roll-up banner | Roll-up-Banner | Enrouleur | paper | 850 | 2000 | 5900
  portrait | Schermbeeld staand | Portrait screen | Bildschirm hochkant | Écran portrait | screen | 1080 | 1920
  landscape | Schermbeeld liggend | Landscape screen | Bildschirm quer | Écran paysage | screen | 1920 | 1080
  social | Social bericht | Social post | Social-Media-Beitrag | Publication sociale | social | 1080 | 1080
  story | Story | Story | Story | Story | social | 1080 | 1920
`)

/** The seasons of the year, each from one day to another, with a colour. */
export const seasons = table(`
  spring | Lente | Spring | Frühling | Printemps | 03-01 | 05-31 | #7fb069
  easter | Pasen | Easter | Ostern | Pâques | 03-15 | 04-20 | #f2c14e
  mothers-day | Moederdag | Mother’s Day | Muttertag | Fête des mères | 04-25 | 05-15 | #e59f9f
  summer | Zomer | Summer | Sommer | Été | 06-01 | 08-31 | #f78154
  autumn | Herfst | Autumn | Herbst | Automne | 09-01 | 11-15 | #b4654a
  saint-nicholas | Sinterklaas | Saint Nicholas | Nikolaus | Saint-Nicolas | 11-10 | 12-06 | #a4161a
  christmas | Kerst | Christmas | Weihnachten | Noël | 11-25 | 12-31 | #2d6a4f
  valentine | Valentijn | Valentine’s Day | Valentinstag | Saint-Valentin | 01-25 | 02-15 | #d90368
`)

/** What every season brings, with its price in cents. */
export const seasonal = table(`
  kit | Campagnepakket | Campaign kit | Kampagnenpaket | Kit de campagne | 4900
  banner | Gevelbanner | Facade banner | Fassadenbanner | Bannière de façade | 8900
  gift-card | Cadeaukaart | Gift card | Geschenkkarte | Carte cadeau | 45
  newsletter | Nieuwsbrief | Newsletter | Newsletter | Lettre d’information | 0
`)

/** What the people wear, with its price in cents. */
export const garments = table(`
  polo | Poloshirt | Polo shirt | Poloshirt | Polo | 1650
  t-shirt | T-shirt | T-shirt | T-Shirt | T-shirt | 950
  baker-jacket | Bakkersjas | Baker’s jacket | Bäckerjacke | Veste de boulanger | 3450
  trousers | Broek | Trousers | Hose | Pantalon | 2950
  apron | Schort | Apron | Schürze | Tablier | 1250
  cap | Pet | Cap | Kappe | Casquette | 790
`)

export const sizes = ["xs", "s", "m", "l", "xl", "xxl"] as const

export const colours = [
  {
    key: "cornflower",
    swatch: "#4666b0",
    names: texts("Korenbloemblauw", "Cornflower blue", "Kornblumenblau", "Bleuet")
  },
  { key: "wheat", swatch: "#e5c687", names: texts("Tarwe", "Wheat", "Weizen", "Blé") },
  { key: "white", swatch: "#ffffff", names: texts("Wit", "White", "Weiß", "Blanc") }
] as const

/** What is used up, with how many are in a box, the weight of the box in grams and its price in cents. */
export const supplies = table(`
  bag-small | Broodzak klein | Small bread bag | Brottüte klein | Petit sac à pain | 1000 | 4200 | 2450
  bag-large | Broodzak groot | Large bread bag | Brottüte groß | Grand sac à pain | 500 | 4800 | 2250
  carrier-bag | Draagtas | Carrier bag | Tragetasche | Sac de caisse | 250 | 7500 | 3900
  baguette-sleeve | Stokbroodhoes | Baguette sleeve | Baguettehülle | Étui à baguette | 1000 | 3900 | 1990
  cake-box-15 | Taartdoos 15 cm | Cake box 15 cm | Tortenkarton 15 cm | Boîte à gâteau 15 cm | 100 | 5200 | 2890
  cake-box-20 | Taartdoos 20 cm | Cake box 20 cm | Tortenkarton 20 cm | Boîte à gâteau 20 cm | 100 | 6900 | 3390
  cake-box-25 | Taartdoos 25 cm | Cake box 25 cm | Tortenkarton 25 cm | Boîte à gâteau 25 cm | 50 | 4700 | 2190
  cup-200 | Koffiebeker 200 ml | Coffee cup 200 ml | Kaffeebecher 200 ml | Gobelet 200 ml | 1000 | 7800 | 4950
  cup-300 | Koffiebeker 300 ml | Coffee cup 300 ml | Kaffeebecher 300 ml | Gobelet 300 ml | 1000 | 9900 | 5950
  cup-lid | Bekerdeksel | Cup lid | Becherdeckel | Couvercle | 1000 | 3100 | 2150
  napkin | Servet | Napkin | Serviette | Serviette | 2000 | 6400 | 1890
  tray-paper | Bakpapier | Baking paper | Backpapier | Papier cuisson | 500 | 5100 | 2690
  sandwich-wrap | Sandwichpapier | Sandwich wrap | Sandwichpapier | Papier à sandwich | 1000 | 3300 | 2090
  salad-bowl | Saladebak | Salad bowl | Salatschale | Saladier | 300 | 4100 | 3590
  wooden-fork | Houten vork | Wooden fork | Holzgabel | Fourchette en bois | 1000 | 2700 | 1790
  straw | Papieren rietje | Paper straw | Papierstrohhalm | Paille en papier | 2500 | 2900 | 1990
  birthday-candle | Verjaardagskaars | Birthday candle | Geburtstagskerze | Bougie | 240 | 900 | 1290
  ribbon | Lint | Ribbon | Geschenkband | Ruban | 50 | 1500 | 1490
  name-badge | Naambordje | Name badge | Namensschild | Badge | 1 | 20 | 390
  loyalty-card | Spaarkaart | Loyalty card | Treuekarte | Carte de fidélité | 500 | 1200 | 1690
`)

/** What is lent for events, with how many there are. */
export const lent = table(`
  tent | Partytent | Party tent | Partyzelt | Tente | 24
  tasting-table | Proeftafel | Tasting table | Probiertisch | Table de dégustation | 60
  beach-flag | Beachvlag | Beach flag | Beachflag | Drapeau de plage | 80
  coffee-cart | Koffiekar | Coffee cart | Kaffeewagen | Chariot à café | 12
  show-oven | Demonstratieoven | Demonstration oven | Vorführofen | Four de démonstration | 8
  photo-wall | Fotowand | Photo wall | Fotowand | Mur à photos | 15
  lucky-wheel | Rad van fortuin | Wheel of fortune | Glücksrad | Roue de la fortune | 18
  speaker | Luidspreker | Speaker | Lautsprecher | Enceinte | 40
  projector | Beamer | Projector | Beamer | Projecteur | 10
  mascot | Mascottepak | Mascot costume | Maskottchenkostüm | Costume de mascotte | 6
  ice-bike | IJsfiets | Ice cream bike | Eisfahrrad | Vélo à glaces | 9
  bread-oven-trailer | Mobiele broodoven | Mobile bread oven | Mobiler Brotofen | Four à pain mobile | 3
`)

/** What is asked for with a form. */
export const services = table(`
  training-hygiene | Training hygiëne | Hygiene training | Hygieneschulung | Formation hygiène
  training-barista | Training barista | Barista training | Barista-Schulung | Formation barista
  training-sourdough | Training desem | Sourdough training | Sauerteigschulung | Formation levain
  photographer | Fotograaf | Photographer | Fotograf | Photographe
  shop-opening | Opening van een winkel | Shop opening | Filialeröffnung | Ouverture de magasin
  local-advert | Plaatselijke advertentie | Local advertisement | Lokale Anzeige | Annonce locale
  window-painting | Raamschildering | Window painting | Fenstermalerei | Peinture sur vitrine
  menu-translation | Vertaling van een menu | Menu translation | Übersetzung einer Karte | Traduction de carte
  waste-advice | Advies tegen verspilling | Food waste advice | Beratung gegen Verschwendung | Conseil anti-gaspillage
  shop-design | Winkelontwerp | Shop design | Ladengestaltung | Aménagement de magasin
`)
